#include "study/page/table_html.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "study/page/page.hpp"

namespace narrowcast {
namespace {

// Such texts stay on one line.
constexpr std::size_t kShort = 24;

// By what a verdict says, not by its word: one look for each.
struct VerdictLook {
  std::string_view word;
  std::string_view look;
};
constexpr std::array kVerdicts{
    VerdictLook{"better", "good"}, VerdictLook{"faster", "good"}, VerdictLook{"yes", "good"},
    VerdictLook{"done", "plain"},  VerdictLook{"same", "plain"},  VerdictLook{"worse", "bad"},
    VerdictLook{"slower", "bad"},  VerdictLook{"no", "bad"},      VerdictLook{"failed", "bad"},
    VerdictLook{"later", "bad"},   VerdictLook{"never", "bad"}};

std::string_view look_of(std::string_view word) {
  const auto found = std::ranges::find(kVerdicts, word, &VerdictLook::word);
  return found == kVerdicts.end() ? "open" : found->look;
}

// A spec may break after its colon, as it does beside charts.
std::string breakable(std::string_view name) {
  std::string out;
  for (const char c : name) out += c == ':' ? std::string(":<wbr>") : std::string(1, c);
  return out;
}

// Keys are there twice, and the style sheet shows one: each in a column of its own, or, where that would leave no
// room for results, all in one.
class Writer {
 public:
  explicit Writer(const TableView& view)
      : table_(view.table), look_(view.look), fold_by_(view.fold_by) {
    for (std::size_t i = 0; i < table_.columns.size(); ++i) {
      // Bounds are written as their number is.
      texts_.push_back(is_bound(table_.columns[i]) ? texts_.back() : NumberText(table_, i));
      if (is_shown(i) && table_.columns[i].is_key) keys_.push_back(i);
    }
    if (keys_.size() < 2) keys_.clear();
  }

  std::string html(std::string_view caption, std::span<const std::size_t> rows) const {
    std::string out = fmt::format(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><table "
        "class=\"sortable\"><thead><tr>",
        escaped(caption));
    for (std::size_t i = 0; i < table_.columns.size(); ++i)
      if (is_shown(i)) out += joined_heading(i) + heading(i);
    out += "</tr></thead><tbody>\n";
    for (const std::size_t row : rows) out += line(row);
    return out + "</tbody></table></div>\n";
  }

 private:
  bool is_shown(std::size_t i) const {
    return !is_bound(table_.columns[i]) && table_.columns[i].name != fold_by_;
  }
  bool is_key(std::size_t i) const { return std::ranges::count(keys_, i) > 0; }
  bool are_joined_before(std::size_t i) const { return !keys_.empty() && i == keys_.front(); }

  std::string joined_heading(std::size_t i) const {
    if (!are_joined_before(i)) return {};
    std::string names;
    for (const std::size_t key : keys_)
      names += (names.empty() ? "" : " \u00b7 ") + table_.columns[key].name;
    return fmt::format("<th scope=\"col\" class=\"keys\">{}</th>", escaped(names));
  }

  std::string heading(std::size_t i) const {
    const TableColumn& column = table_.columns[i];
    return fmt::format(
        "<th scope=\"col\"{}>{}{}</th>", classes(i, column.kind == ColumnKind::number ? "n" : ""),
        breakable(escaped(column.name)),
        column.unit.empty() ? std::string()
                            : fmt::format(" <span class=\"unit\">{}</span>", escaped(column.unit)));
  }

  std::string line(std::size_t row) const {
    std::string out = "<tr>";
    for (std::size_t i = 0; i < table_.columns.size(); ++i) {
      if (!is_shown(i)) continue;
      if (are_joined_before(i))
        out += fmt::format("<td class=\"keys\">{}</td>", escaped(label_of(table_, row, keys_)));
      out += cell(table_.rows[row], i);
    }
    return out + "</tr>\n";
  }

  // Of a cell of this column, besides its own.
  std::string classes(std::size_t i, std::string_view own) const {
    std::string all(own);
    if (is_key(i)) all += all.empty() ? "key" : " key";
    return all.empty() ? all : fmt::format(" class=\"{}\"", all);
  }

  std::string cell(const std::vector<TableValue>& row, std::size_t i) const {
    if (const auto* number = std::get_if<double>(&row[i])) return number_cell(row, i, *number);
    const auto* text = std::get_if<std::string>(&row[i]);
    if (text == nullptr)
      return fmt::format("<td{}></td>",
                         classes(i, table_.columns[i].kind == ColumnKind::number ? "n" : ""));
    switch (table_.columns[i].kind) {
      case ColumnKind::verdict:
        return fmt::format("<td><span class=\"verdict {}\">{}</span></td>", look_of(*text),
                           escaped(*text));
      case ColumnKind::code:
        return fmt::format("<td><code>{}</code></td>", escaped(*text));
      default:
        return fmt::format("<td{}>{}</td>", classes(i, text->size() <= kShort ? "s" : ""),
                           escaped(*text));
    }
  }

  std::string number_cell(const std::vector<TableValue>& row, std::size_t i, double number) const {
    return fmt::format("<td{} data-v=\"{}\"{}>{}{}</td>", classes(i, "n"), number, heat(i, number),
                       escaped(texts_[i](number)), between(row, i));
  }

  // How far from what it is compared with, in doublings; two of them are all the colour there is.
  std::string heat(std::size_t column, double number) const {
    const bool is_value = column >= look_.facets.size();  // of a pivoted table
    if (look_.drawing != Drawing::heat || !is_value || !look_.mark || number <= 0) return {};
    const double far = std::clamp(std::log2(number / *look_.mark) / 2, -1.0, 1.0);
    if (std::abs(far) < 0.02) return {};
    return fmt::format(" style=\"--heat:{:.2f}\" data-heat=\"{}\"", std::abs(far),
                       far > 0 ? "up" : "down");
  }

  std::string between(const std::vector<TableValue>& row, std::size_t i) const {
    if (i + 2 >= row.size() || !is_bound(table_.columns[i + 1])) return {};
    const auto* low = std::get_if<double>(&row[i + 1]);
    const auto* high = std::get_if<double>(&row[i + 2]);
    if (low == nullptr || high == nullptr) return {};
    return fmt::format("<span class=\"between\">{} to {}</span>", texts_[i](*low),
                       texts_[i](*high));
  }

  const Table& table_;
  const Look& look_;
  std::string_view fold_by_;
  std::vector<NumberText> texts_ = {};
  std::vector<std::size_t> keys_ = {};  // none unless there are several
};

}  // namespace

std::string table_html(const TableView& view, std::string_view caption,
                       std::span<const std::size_t> rows) {
  return Writer(view).html(caption, rows);
}

}  // namespace narrowcast
