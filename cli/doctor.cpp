#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "base/json.hpp"
#include "base/version.hpp"
#include "bench/machine.hpp"
#include "bench/yardstick.hpp"
#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/engines.hpp"
#include "codec/libraries.hpp"
#include "codec/target.hpp"
#include "transport/module.hpp"

namespace narrowcast::cli {
namespace {

struct DoctorWords {
  bool json = false;
};

constexpr std::size_t kInCache = std::size_t{1} << 18;   // 1 MiB of floats
constexpr std::size_t kInMemory = std::size_t{1} << 24;  // 64 MiB of floats
constexpr double kCopySeconds = 0.1;

struct Examination {
  bench::Machine machine = bench::this_machine();
  bench::CopyTime in_cache;
  bench::CopyTime in_memory;
};

Examination examine() {
  Team alone(1);
  Examination found;
  found.in_cache = bench::measure_copy(kInCache, alone, kCopySeconds);
  found.in_memory = bench::measure_copy(kInMemory, alone, kCopySeconds);
  return found;
}

std::string engine_state(const EngineFound& found) {
  if (found.library.empty() && found.header.empty()) return "missing";
  if (found.library.empty()) return "headers only";
  return found.header.empty() ? "library only, no headers" : "found";
}

// Where the module lies that uses this engine; empty when there is none.
std::string module_of(const Engine& engine) { return find_module(engine.module).string(); }

std::string_view module_state(const Engine& engine) {
  return module_of(engine).empty() ? "not built in" : "usable";
}

JsonValue copy_json(const bench::CopyTime& time) {
  return json_object({{"memcpy_ns", time.memcpy_ns},
                      {"loop_ns", time.loop_ns},
                      {"gigabytes_per_second", time.gigabytes_per_second()}});
}

JsonValue texts_json(const std::vector<std::string>& texts) {
  return json_array(std::vector<JsonValue>(texts.begin(), texts.end()));
}

JsonValue engines_json() {
  std::vector<JsonValue> found;
  for (const Engine& engine : engines()) {
    const EngineFound where = find_engine(engine);
    found.push_back(json_object({{"name", engine.name},
                                 {"state", engine_state(where)},
                                 {"library", where.library.string()},
                                 {"header", where.header.string()},
                                 {"version", where.version},
                                 {"used", !module_of(engine).empty()},
                                 {"module", module_of(engine)},
                                 {"package", engine.package}}));
  }
  return json_array(found);
}

JsonValue libraries_json() {
  std::vector<JsonMember> versions;
  for (const Library& library : codec_libraries())
    versions.push_back({library.name, library.version});
  return json_object(versions);
}

std::string libraries_text() {
  std::string text;
  for (const Library& library : codec_libraries())
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", library.name, library.version);
  return text;
}

std::string as_json(const Examination& found) {
  return json_line({
      {"version", version()},
      {"commit", commit()},
      {"compiler", found.machine.compiler},
      {"libraries", libraries_json()},
      {"system", found.machine.system},
      {"cpu", found.machine.cpu},
      {"cores", found.machine.cores},
      {"memory_bytes", found.machine.memory_bytes},
      {"targets_compiled", texts_json(compiled_targets())},
      {"targets_usable", texts_json(cpu_targets())},
      {"target", active_target()},
      {"copy_in_cache", copy_json(found.in_cache)},
      {"copy_in_memory", copy_json(found.in_memory)},
      {"engines", engines_json()},
  });
}

std::string copy_text(std::string_view where, const bench::CopyTime& time) {
  return fmt::format(
      "  {:<11} {:.3f} ns a float32, {:.1f} GB/s read and written (memcpy {:.3f}, "
      "loop {:.3f})\n",
      where, time.best_ns(), time.gigabytes_per_second(), time.memcpy_ns, time.loop_ns);
}

std::string engines_text() {
  std::string text = "Engines\n";
  std::vector<std::string_view> missing;
  for (const Engine& engine : engines()) {
    const EngineFound where = find_engine(engine);
    text += fmt::format("  {:<11} {}{}{} ({}; {})\n", engine.name, engine_state(where),
                        where.version.empty() ? "" : " " + where.version,
                        where.library.empty() ? "" : ": " + where.library.string(), engine.purpose,
                        module_state(engine));
    const bool here = !where.library.empty() && !where.header.empty();
    if (!here || module_state(engine) == "not built in") missing.push_back(engine.package);
  }
  if (missing.empty()) return text + "\nNothing is missing.\n";
  return text + fmt::format(
                    "\nTo have all of them, install these, then {}:\n"
                    "  sudo apt-get install {}\n",
                    how_to_build(), fmt::join(missing, " "));
}

std::string as_text(const Examination& found) {
  std::string text = fmt::format(
      "narrowcast {}, commit {}\n\n"
      "Machine\n"
      "  system      {}\n"
      "  CPU         {}, {} core{} for this process\n"
      "  memory      {:.1f} GB, {:.1f} GB available\n"
      "  compiler    {}\n"
      "  libraries   {}\n\n"
      "CPU targets\n"
      "  compiled    {}\n"
      "  usable      {}\n"
      "  in use      {}\n\n"
      "Copy speed, one thread: what codecs are compared with\n",
      version(), commit(), found.machine.system, found.machine.cpu, found.machine.cores,
      found.machine.cores == 1 ? "" : "s", found.machine.memory_gigabytes(),
      found.machine.available_gigabytes(), found.machine.compiler, libraries_text(),
      fmt::join(compiled_targets(), " "), fmt::join(cpu_targets(), " "), active_target());
  return text + copy_text("in cache", found.in_cache) + copy_text("in memory", found.in_memory) +
         "\n" + engines_text();
}

}  // namespace

Action declare_doctor(Arguments& arguments) {
  const auto words = std::make_shared<DoctorWords>();
  arguments.flag("--json", words->json, "One JSON object");
  return [words](const Console& console) {
    const Examination found = examine();
    console.out << (words->json ? as_json(found) : as_text(found));
  };
}

}  // namespace narrowcast::cli
