#include "tests/browser/sample_records.hpp"

#include <cmath>

#include "base/random.hpp"

namespace narrowcast::test {
namespace {

const std::array kCodecs{SampleCodec{"fp32"},
                         SampleCodec{"dynamic8", 8.1, 0.8, 0},
                         SampleCodec{"linear8", 8.1, 0.5, 0.02},
                         SampleCodec{"qsgd:bits=4", 4.1, 1.2, 0.05},
                         SampleCodec{"qsgd:bits=2", 2.1, 1.2, 0.9},
                         SampleCodec{"onebit-feedback", 1.1, 1.6, 0.12}};
struct SampleLink {
  std::string name;
  double bits_a_ms = 0;
};
const std::array kLinks{SampleLink{"none", 40e6}, SampleLink{"10gbit,20us", 10e6},
                        SampleLink{"1gbit,100us", 1e6}, SampleLink{"100mbit,200us", 1e5}};

class Sample {
 public:
  std::vector<CellRecord> records() {
    add_training({.net = "mnist-mlp", .data = "mnist", .floor = 1.6});
    add_training({.net = "mnist-mlp", .data = "fashion-mnist", .floor = 10.4});
    // Two seeds: wide intervals.
    add_training({.net = "cifar-conv", .data = "cifar10", .floor = 2.5, .seeds = 2});
    add_speeds();
    add_predictions();
    add_scale();
    add_transfers();
    add_tables();
    add_failures();
    return std::move(records_);
  }

 private:
  // From -1 to 1.
  double noise() {
    double sum = 0;
    for (int i = 0; i < 3; ++i) sum += uniform(Stream{1, 0}, next_++);
    return 2 * sum / 3 - 1;
  }

  CellRecord& add(std::string kind, Axes axes) {
    CellRecord& record = records_.emplace_back();
    record.study = "sample";
    record.cell = {.kind = std::move(kind), .axes = std::move(axes)};
    record.version = "0.1.0";
    record.commit = records_.size() % 3 == 0 ? "7ecad22c" : "e8565e3f";
    record.machine = {.name = records_.size() % 2 == 0 ? "3f2a9c01" : "b81d0e77",
                      .cpu = "EPYC 7B13",
                      .cores = 2,
                      .memory_bytes = 25'000'000'000,
                      .kernel = "Linux 6.1.0",
                      .engines = {{"torch", "1.13.1"}, {"gloo", "0.0~git"}}};
    record.started = "2026-03-0" + std::to_string(1 + records_.size() % 7) + "T10:00:00Z";
    record.seconds = 20 + 5 * noise();
    record.others = records_.size() % 41 == 0 ? 0.4 : 0.02;
    record.commands = {"narrowcast " + record.cell.kind + " --codec '" +
                       std::string(record.cell.at("codec")) + "' --json -"};
    return record;
  }

  struct Training {
    std::string net;
    std::string data;
    double floor = 0;  // of the error
    int seeds = 5;
  };

  void add_training(const Training& training) {
    for (const std::string parallel : {"data", "model"})
      for (const SampleCodec& codec : kCodecs)
        for (int seed = 1; seed <= training.seeds; ++seed) {
          CellRecord& record = add("train", {{"net", training.net},
                                             {"data", training.data},
                                             {"parallel", parallel},
                                             {"workers", "2"},
                                             {"transport", "shm"},
                                             {"link", "none"},
                                             {"codec", codec.name},
                                             {"seed", std::to_string(seed)}});
          add_epochs(record, training.floor, codec.harm);
        }
  }

  void add_epochs(CellRecord& record, double floor, double harm) {
    for (int epoch = 1; epoch <= 20; ++epoch) {
      EpochPoint point;
      point.epoch = epoch;
      point.test_error =
          floor + harm + 9 * std::exp(-epoch / 3.0) + 0.08 * noise() * (1 + 5.0 / epoch);
      point.train_loss = std::exp(-epoch / 4.0);
      record.epochs.push_back(point);
    }
    record.values = {{"step_ms", 9},
                     {"steps_per_epoch", 234},
                     {"last_error", *record.epochs.back().test_error},
                     {"best_error", *record.epochs.back().test_error - 0.02}};
  }

  // Sends `megabits` of fp32 over the link beside 9 ms of computing.
  void time_step(CellRecord& record, const SampleCodec& codec, double wire_ms) {
    const double compute = 9 * (1 + 0.02 * noise());
    const double wait = std::max(0.0, wire_ms + codec.cost_ms - 5);
    const double step = (compute + wait) * (1.01 + 0.01 * noise());
    record.values = {{"step_ms", step},
                     {"compute_ms", compute},
                     {"wait_ms", step - compute},
                     {"encode_ms", codec.cost_ms * 0.6},
                     {"decode_ms", codec.cost_ms * 0.4},
                     {"wire_ms", wire_ms},
                     {"overlap", 1 - wait / (wire_ms + codec.cost_ms + 0.01)},
                     {"wire_bytes", codec.bits * 3.3e5 / 8},
                     {"steps_per_epoch", 234},
                     {"step_low_ms", step * 0.97},
                     {"step_high_ms", step * 1.04}};
  }

  void add_speeds() {
    for (const std::string workers : {"2", "4"})
      for (const SampleLink& link : kLinks)
        for (const SampleCodec& codec : kCodecs)
          for (int seed = 1; seed <= 3; ++seed) {
            CellRecord& record = add("speed", {{"net", "mnist-mlp"},
                                               {"data", "mnist"},
                                               {"parallel", "data"},
                                               {"workers", workers},
                                               {"transport", "shm"},
                                               {"link", link.name},
                                               {"codec", codec.name},
                                               {"seed", std::to_string(seed)}});
            time_step(record, codec, codec.bits * 3.3e5 / link.bits_a_ms);
            record.values["images_per_s"] =
                1e3 * 128 * std::stod(workers) / record.values["step_ms"];
          }
  }

  void add_predictions() {
    for (const SampleLink& link : kLinks)
      for (const SampleCodec& codec : kCodecs) {
        CellRecord& record = add("predict", {{"net", "mnist-mlp"},
                                             {"profile", "here"},
                                             {"parallel", "data"},
                                             {"workers", "2"},
                                             {"transport", "shm"},
                                             {"link", link.name},
                                             {"codec", codec.name}});
        time_step(record, codec, codec.bits * 3.3e5 / link.bits_a_ms * (1.05 + 0.1 * noise()));
        record.values["low_ms"] = record.values["step_ms"] * 0.9;
        record.values["high_ms"] = record.values["step_ms"] * 1.1;
      }
  }

  void add_scale() {
    for (const std::string net : {"alexnet", "resnet50", "vgg19", "resnet152"})
      for (const std::string profile : {"ec2-k80", "dgx1-p100"})
        for (const int workers : {2, 4, 8, 16})
          for (const SampleCodec& codec : kCodecs) {
            CellRecord& record = add("predict", {{"net", net},
                                                 {"profile", profile},
                                                 {"parallel", "data"},
                                                 {"workers", std::to_string(workers)},
                                                 {"transport", "shm"},
                                                 {"link", "none"},
                                                 {"batch", "32"},
                                                 {"codec", codec.name}});
            record.cell.settings["images"] = "1281167";
            predict(record, codec, workers);
          }
  }

  static void predict(CellRecord& record, const SampleCodec& codec, int workers) {
    const bool slow = record.cell.at("profile") == "ec2-k80";
    const double compute = slow ? 300 : 60;
    const double sent = (record.cell.at("net") == "resnet50" ? 100 : 240) * codec.bits / 32;
    const auto step = [&](double megabytes) {
      return compute + std::max(0.0, megabytes * workers / (slow ? 3.0 : 40.0) - compute / 2);
    };
    record.values = {{"step_ms", step(sent)},
                     {"low_ms", 0.85 * step(sent)},
                     {"high_ms", 1.2 * step(sent)},
                     {"speedup", workers * compute / step(sent)},
                     {"over_fp32", step(32 * sent / codec.bits) / step(sent)},
                     {"wire_bytes", 1e6 * sent},
                     {"batch", 32}};
    if (slow) record.values["price"] = 0.9;
  }

  void add_transfers() {
    for (const double kib : {64.0, 256.0, 1024.0, 4096.0, 16384.0, 102400.0})
      for (const SampleLink& link : {kLinks[0], kLinks[1]})
        for (const std::string codec : {"dynamic8", "linear8"})
          for (int seed = 1; seed <= 3; ++seed) {
            CellRecord& record =
                add("transfer", {{"size", std::to_string(static_cast<int>(kib)) + "K"},
                                 {"transport", "shm"},
                                 {"link", link.name},
                                 {"codec", codec},
                                 {"seed", std::to_string(seed)}});
            const double fp32 = 30 + kib * 8.192e6 / link.bits_a_ms;
            const double narrow =
                35 + kib * 2.048e6 / link.bits_a_ms + kib * 0.02 * (1 + 0.1 * noise());
            record.values = {{"bytes", 1024 * kib},
                             {"time_us", narrow},
                             {"fp32_us", fp32},
                             {"speedup", fp32 / narrow}};
          }
  }

  void add_tables() {
    CellRecord& sums = add("round-off", {{"codec", "(5,2)"}, {"ranks", "256"}, {"seed", "1"}});
    for (const double group : {0.0, 4.0, 8.0, 16.0, 32.0})
      sums.rows.push_back({.texts = {{"algorithm", group == 0 ? "ring" : "hierarchy"}},
                           .numbers = {{"group", group},
                                       {"format_percent", group == 0 ? 40 : 12 + group / 8},
                                       {"kahan_percent", group == 0 ? 14 : 9},
                                       {"fp32_percent", 6},
                                       {"published_percent", group == 0 ? 46 : 18}}});
    for (const std::string codec : {"dynamic8", "linear8", "static8"})
      for (const std::string data : {"normal", "uniform"}) {
        CellRecord& record = add("errors", {{"codec", codec}, {"data", data}});
        record.rows.push_back(
            {.texts = {{"codec", codec}, {"distribution", data}},
             .numbers = {{"mse", 2.4e-5},
                         {"relative_percent", codec == "linear8" ? 12.3 : 2.5},
                         {"published_relative_percent", codec == "linear8" ? 12.5 : 2.6},
                         {"bits_per_value", 8.1},
                         {"mae", 0.004},
                         {"snr_db", 31}}});
      }
    CellRecord& paper = add("paper", {{"model", "d16-cluster"}});
    paper.rows.push_back(
        {.texts = {{"model", "d16-cluster"}, {"quantity", "speedup"}, {"setting", "96 GPUs"}},
         .numbers = {{"bits", 8}, {"printed", 50}, {"computed", 50.3}, {"corrected", 44}}});
  }

  void add_failures() {
    for (const std::string net : {"lstm", "resnet20"}) {
      CellRecord& record = add("speed", {{"net", net},
                                         {"workers", "2"},
                                         {"transport", "mpi"},
                                         {"link", "none"},
                                         {"codec", "fp32"},
                                         {"seed", "1"}});
      record.state = CellState::failed;
      record.tries = 2;
      record.message =
          "peer: rank 1 <img src=x onerror=alert(1)> did not answer \"in time\" & left";
      record.commands = {
          "narrowcast train --set 'note=</script><script>alert(2)</script>' | tee 'a|b'"};
    }
  }

  std::vector<CellRecord> records_;
  std::uint64_t next_ = 0;
};

}  // namespace

const std::array<SampleCodec, 6>& sample_codecs() { return kCodecs; }

std::vector<CellRecord> sample_records() { return Sample().records(); }

}  // namespace narrowcast::test
