#include <fmt/core.h>

#include <memory>

#include "base/json.hpp"
#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/table.hpp"
#include "run/run.hpp"

namespace narrowcast::cli {
namespace {

struct NetsWords {
  bool json = false;
};

void list_json(const Console& console) {
  for (const NetworkRow& row : networks())
    console.out << json_line({{"network", row.name},
                              {"summary", row.summary},
                              {"parameters", row.parameters},
                              {"input", row.shape},
                              {"classes", row.classes},
                              {"data", row.data}});
  for (const Recipe& recipe : recipes())
    console.out << json_line({{"setup", recipe.name}, {"summary", recipe.summary}});
}

void list(const Console& console) {
  Table table({{"network", Align::left},
               {"parameters"},
               {"input"},
               {"classes"},
               {"data", Align::left},
               {"what it is", Align::left}});
  for (const NetworkRow& row : networks())
    table.add({std::string(row.name), std::to_string(row.parameters), std::string(row.shape),
               std::to_string(row.classes), std::string(row.data), std::string(row.summary)});
  console.out << table.text() << "\n";
  Table setups({{"set-up", Align::left}, {"what it sets", Align::left}});
  for (const Recipe& recipe : recipes())
    setups.add({std::string(recipe.name), std::string(recipe.summary)});
  console.out << setups.text();
}

}  // namespace

Action declare_nets(Arguments& arguments) {
  auto words = std::make_shared<NetsWords>();
  arguments.flag("--json", words->json, "Print JSON Lines");
  return [words](const Console& console) { words->json ? list_json(console) : list(console); };
}

}  // namespace narrowcast::cli
