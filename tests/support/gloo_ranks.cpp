#include "tests/support/gloo_ranks.hpp"

#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <system_error>

#include "transport/join.hpp"
#include "transport/module.hpp"

namespace narrowcast::test {

TempFolder::TempFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "narrowcast-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder for a test");
  path_ = name;
}

TempFolder::~TempFolder() {
  std::error_code left_over;
  std::filesystem::remove_all(path_, left_over);
}

bool has_gloo() { return !find_module("gloo").empty(); }

Connect meet_gloo(int ranks, std::chrono::milliseconds timeout) {
  const auto folder = std::make_shared<TempFolder>();
  return [folder, ranks, timeout](int rank) {
    Joining joining;
    joining.place = {rank, ranks, rank, ranks};
    joining.rendezvous = "file://" + folder->path().string();
    joining.timeout = timeout;
    return transport_row("gloo").join(joining);
  };
}

}  // namespace narrowcast::test
