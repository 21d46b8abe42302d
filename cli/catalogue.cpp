#include "cli/command.hpp"

namespace narrowcast::cli {

Action declare_codecs(Arguments& arguments);
Action declare_encode(Arguments& arguments);
Action declare_decode(Arguments& arguments);
Action declare_inspect(Arguments& arguments);
Action declare_compare(Arguments& arguments);
Action declare_errors(Arguments& arguments);
Action declare_errors_allreduce(Arguments& arguments);
Action declare_bench_codec(Arguments& arguments);
Action declare_bench_allreduce(Arguments& arguments);
Action declare_bench_allgather(Arguments& arguments);
Action declare_bench_reducescatter(Arguments& arguments);
Action declare_bench_broadcast(Arguments& arguments);
Action declare_bench_sendrecv(Arguments& arguments);
Action declare_bench_transfer(Arguments& arguments);
Action declare_data_pack(Arguments& arguments);
Action declare_data_info(Arguments& arguments);
Action declare_train(Arguments& arguments);
Action declare_nets(Arguments& arguments);
Action declare_curves(Arguments& arguments);
Action declare_calibrate(Arguments& arguments);
Action declare_predict(Arguments& arguments);
Action declare_predict_paper(Arguments& arguments);
Action declare_advise(Arguments& arguments);
Action declare_study_run(Arguments& arguments);
Action declare_study_list(Arguments& arguments);
Action declare_study_compare(Arguments& arguments);
Action declare_study_report(Arguments& arguments);
Action declare_completion(Arguments& arguments);
Action declare_doctor(Arguments& arguments);

namespace {

constexpr Command kCommands[] = {
    {"codecs", "list the codecs: options, bits per value, promises",
     "narrowcast codecs\n"
     "narrowcast codecs --json | grep qsgd",
     declare_codecs},
    {"encode", "turn raw little-endian float32 into a frame",
     "narrowcast encode dynamic8 < gradient.f32 > gradient.frame\n"
     "narrowcast encode qsgd:bits=4 --seed 7 -o gradient.frame gradient.f32\n"
     "narrowcast encode onebit:column=shape --shape 1024,784 < gradient.f32 > gradient.frame",
     declare_encode},
    {"decode", "turn a frame back into raw little-endian float32",
     "narrowcast decode < gradient.frame > gradient.f32\n"
     "narrowcast decode -o gradient.f32 gradient.frame",
     declare_decode},
    {"inspect", "say what is in a frame, and check it",
     "narrowcast inspect gradient.frame\n"
     "narrowcast inspect --json < gradient.frame",
     declare_inspect},
    {"compare", "show bits, error and speed of the main codecs side by side",
     "narrowcast compare\n"
     "narrowcast compare --values 16M --json",
     declare_compare},
    {"errors", "measure the error of codecs on known distributions",
     "narrowcast errors --dist uniform,normal\n"
     "narrowcast errors dynamic8 bnb8 --dist gradient --samples 25M\n"
     "narrowcast errors --json > errors.jsonl",
     declare_errors},
    {"errors allreduce", "measure what adding in few bits costs, beside a paper's figures",
     "narrowcast errors allreduce\n"
     "narrowcast errors allreduce --codec e4m3 --ranks 64 --json",
     declare_errors_allreduce},
    {"bench codec", "measure the speed of codecs beside memcpy",
     "narrowcast bench codec dynamic8 qsgd:bits=4 --sizes 1M\n"
     "narrowcast bench codec --threads 2 --json > codec.jsonl",
     declare_bench_codec},
    {"bench allreduce", "measure and verify sums over ranks in any codec",
     "narrowcast bench allreduce --codec dynamic8 --codec qsgd:bits=4 --workers 4\n"
     "narrowcast bench allreduce --codec engine --codec dynamic8 --transport gloo -e 16M\n"
     "narrowcast bench allreduce --algorithm auto --shape 1gbit,100us --json",
     declare_bench_allreduce},
    {"bench allgather", "measure and verify how ranks collect what each of them has",
     "narrowcast bench allgather --codec e4m3 --workers 4\n"
     "narrowcast bench allgather -b 1M -e 1M -n 100 --json",
     declare_bench_allgather},
    {"bench reducescatter", "measure and verify sums of which each rank gets a part",
     "narrowcast bench reducescatter --codec dynamic8 --workers 4\n"
     "narrowcast bench reducescatter --transport gloo --json",
     declare_bench_reducescatter},
    {"bench broadcast", "measure and verify how all ranks get what rank 0 has",
     "narrowcast bench broadcast --codec bf16 --workers 4\n"
     "narrowcast bench broadcast --hosts hosts.txt --json",
     declare_bench_broadcast},
    {"bench sendrecv", "measure and verify messages from every rank to the next",
     "narrowcast bench sendrecv --codec dynamic8 --workers 2\n"
     "narrowcast bench sendrecv --shape 10gbit --json",
     declare_bench_sendrecv},
    {"bench transfer", "measure matrices from one rank to another beside fp32",
     "narrowcast bench transfer --codec dynamic8 -b 64K -e 100M\n"
     "narrowcast bench transfer --codec qsgd:bits=4 --shape 1gbit --json",
     declare_bench_transfer},
    {"data pack", "turn a folder of class folders of JPEGs into one file to train from",
     "narrowcast data pack photos -o photos.pack --size 224x224\n"
     "narrowcast data pack cifar10-jpeg -o cifar10.pack --json",
     declare_data_pack},
    {"data info", "say what is in a data set, and check all of it",
     "narrowcast data info fashion-mnist\n"
     "narrowcast data info photos.pack --json",
     declare_data_info},
    {"train", "train a network on several workers, gradients in few bits",
     "narrowcast train --codec dynamic8 --workers 2\n"
     "narrowcast train --net resnet20 --data cifar10 --codec qsgd:bits=4 --epochs 20 --json "
     "r.jsonl\n"
     "narrowcast train --parallel model --codec dynamic8 --data mnist\n"
     "narrowcast train --plan plan.toml --checkpoint here --restarts 5\n"
     "narrowcast train --hosts hosts.txt --codec onebit:column=512",
     declare_train},
    {"nets", "list the networks and set-ups that can be trained",
     "narrowcast nets\n"
     "narrowcast nets --json",
     declare_nets},
    {"curves", "show training runs side by side, in the terminal and as a page",
     "narrowcast curves fp32.jsonl dynamic8.jsonl\n"
     "narrowcast curves runs/*.jsonl --html runs.html --title 'One week of runs'",
     declare_curves},
    {"calibrate", "measure links, codecs and networks here: a profile to predict from",
     "narrowcast calibrate --workers 2 --net mnist-mlp -o here.toml\n"
     "narrowcast calibrate --hosts hosts.txt --net resnet50 --batch 32 -o cluster.toml",
     declare_calibrate},
    {"predict", "say how long a step will take, by codec and number of workers",
     "narrowcast predict --net resnet50 --profile ethernet-10g --workers 2..64\n"
     "narrowcast predict --net mnist-mlp --profile here.toml --codec fp32,dynamic8 --html "
     "page.html",
     declare_predict},
    {"predict paper", "compute what the papers predict, beside the figures that they print",
     "narrowcast predict paper d16-cluster\n"
     "narrowcast predict paper d16-cluster --corrected\n"
     "narrowcast predict paper a20-steps --json",
     declare_predict_paper},
    {"advise",
     "say whether low precision pays, and how: with the gain, its interval and the reason",
     "narrowcast advise --net resnet50 --profile ethernet-10g --workers 16\n"
     "narrowcast advise --net mnist-mlp --profile here.toml --max-error 0.05 -o plan.toml",
     declare_advise},
    {"study run", "carry out a matrix of runs, measured and predicted; goes on where it stopped",
     "narrowcast study run studies/quick.toml -o quick\n"
     "narrowcast study run studies/d16.toml -o d16 --from studies/records/d16.jsonl\n"
     "narrowcast study run studies/g18.toml -o g18 --only predict",
     declare_study_run},
    {"study list", "show what a study has measured so far",
     "narrowcast study list quick\n"
     "narrowcast study list d16 --json > studies/records/d16.jsonl",
     declare_study_list},
    {"study compare", "compare two sets of records, or two codecs, with a significance test",
     "narrowcast study compare before after\n"
     "narrowcast study compare fp32 dynamic8 --in d16 --tolerance 0.2",
     declare_study_compare},
    {"study report", "write what a study found: a page, Markdown and the data of each figure",
     "narrowcast study report quick\n"
     "narrowcast study report studies/records/d16.jsonl --study studies/d16.toml -o d16",
     declare_study_report},
    {"completion", "print a script that completes this program's words in a shell",
     "narrowcast completion bash > /etc/bash_completion.d/narrowcast\n"
     "narrowcast completion zsh >> ~/.zshrc\n"
     "narrowcast completion fish > ~/.config/fish/completions/narrowcast.fish",
     declare_completion},
    {"doctor", "say what this machine has, what is missing and how to install it",
     "narrowcast doctor\n"
     "narrowcast doctor --json",
     declare_doctor},
};

}  // namespace

std::span<const Command> commands() { return kCommands; }

}  // namespace narrowcast::cli
