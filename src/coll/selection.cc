// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "coll/selection.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include <fmt/format.h>

namespace commrig::coll {
namespace {

constexpr std::size_t kAnySize = std::numeric_limits<std::size_t>::max();

// Reads the rules from left to right, and knows where it is.
class RuleReader {
 public:
  explicit RuleReader(std::string_view text) : text_(text) {}

  bool at_end() const { return position_ == text_.size(); }
  std::size_t position() const { return position_; }
  std::string_view since(std::size_t start) const { return text_.substr(start, position_ - start); }

  bool take(std::string_view token) {
    if (!text_.substr(position_).starts_with(token)) return false;
    position_ += token.size();
    return true;
  }
  std::string_view word() {
    const std::size_t start = position_;
    while (!at_end() && std::string_view("=@;").find(text_[position_]) == text_.npos) ++position_;
    return since(start);
  }

  Error expected(std::string_view what) const { return expected_at(position_, what); }
  Error expected_at(std::size_t position, std::string_view what) const {
    const std::string_view rest = text_.substr(position);
    return Error::make(
        Code::kSelectionText,
        fmt::format("\"{}\", at character {}: expected {}, found {}", text_, position + 1, what,
                    rest.empty() ? "the end" : fmt::format("\"{}\"", rest)));
  }
  Error at(std::size_t position, const Error& error) const {
    return Error::make(
        error.code, fmt::format("\"{}\", at character {}: {}", text_, position + 1, error.message));
  }

  Result<std::size_t> bytes() {
    const std::size_t start = position_;
    std::size_t number = 0;
    const char* const begin = text_.data() + position_;
    const auto [stop, failed] = std::from_chars(begin, text_.data() + text_.size(), number);
    if (failed != std::errc()) return expected("a number of bytes");
    position_ += static_cast<std::size_t>(stop - begin);
    std::size_t unit = 1;
    if (take("KiB")) {
      unit = std::size_t{1} << 10;
    } else if (take("MiB")) {
      unit = std::size_t{1} << 20;
    } else if (take("GiB")) {
      unit = std::size_t{1} << 30;
    } else if (!take("B") && !at_end() && text_[position_] != ';') {
      return expected("B, KiB, MiB, GiB or a semicolon");
    }
    if (number > kAnySize / unit) return expected_at(start, "a smaller number");
    return number * unit;
  }

 private:
  std::string_view text_;
  std::size_t position_ = 0;
};

// What stands behind the @.
Status read_size(RuleReader& reader, Rules::Rule& rule) {
  const std::size_t start = reader.position();
  const bool greater = reader.take(">");
  if (!greater && !reader.take("<")) return reader.expected("<, <=, > or >=");
  const bool equal = reader.take("=");
  COMMRIG_ASSIGN(const std::size_t size, reader.bytes());
  if (!equal && size == (greater ? kAnySize : 0)) {
    return reader.expected_at(start, "a size that some buffer can have");
  }
  if (greater) {
    rule.least = equal ? size : size + 1;
  } else {
    rule.most = equal ? size : size - 1;
  }
  return ok();
}

Result<Rules::Rule> read_rule(RuleReader& reader) {
  const std::size_t start = reader.position();
  const Result<Collective> collective = parse_collective(reader.word());
  if (!collective) return reader.at(start, collective.error());
  if (!reader.take("=")) return reader.expected("= and an algorithm");
  const std::size_t algorithm_start = reader.position();
  const Result<const Algorithm*> algorithm = find_algorithm(reader.word());
  if (!algorithm) return reader.at(algorithm_start, algorithm.error());
  if ((*algorithm)->form(*collective) == nullptr) {
    return reader.at(
        algorithm_start,
        Error::make(Code::kNoAlgorithm,
                    fmt::format("{} has no plan for {}", (*algorithm)->name, name(*collective))));
  }
  Rules::Rule rule{*collective, *algorithm, 0, kAnySize, {}};
  if (reader.take("@")) COMMRIG_TRY(read_size(reader, rule));
  rule.text = reader.since(start);
  return rule;
}

std::string why_not(const Algorithm& algorithm, const Request& request,
                    const Capabilities& capabilities) {
  if (algorithm.shared_memory && !capabilities.shared_memory) {
    return "needs shared memory, which these ranks don't have";
  }
  if (capabilities.strict && algorithm.rounding_of(request.collective) == Rounding::kPerHop) {
    return "rounds per hop, which strict mode refuses";
  }
  const std::size_t needed = scratch_bytes(algorithm, request);
  if (needed > capabilities.slot_bytes) {
    return fmt::format("needs {} bytes of scratch, a slot has {}", needed, capabilities.slot_bytes);
  }
  return {};
}

}  // namespace

double cost_seconds(const Work& work, const CostModel& model) {
  const double flag = model.ranks_share_cores ? model.shared_core_seconds : model.flag_seconds;
  return work.flags * flag + work.messages * model.message_seconds +
         work.sent / model.sent_bytes_per_second + work.copied / model.copied_bytes_per_second +
         work.folded / model.folded_bytes_per_second;
}

Result<Rules> Rules::parse(std::string_view text) {
  Rules rules;
  RuleReader reader(text);
  while (!reader.at_end()) {
    COMMRIG_ASSIGN(Rule rule, read_rule(reader));
    rules.rules_.push_back(std::move(rule));
    if (reader.at_end()) break;
    if (!reader.take(";")) return reader.expected("a semicolon or the end");
    if (reader.at_end()) return reader.expected("another rule");
  }
  return rules;
}

const Rules::Rule* Rules::find(const Request& request) const {
  const std::size_t size = size_in_bytes(request);
  const auto found = std::ranges::find_if(rules_, [&](const Rule& rule) {
    return rule.collective == request.collective && rule.least <= size && size <= rule.most;
  });
  return found == rules_.end() ? nullptr : &*found;
}

Result<Choice> choose(const Request& request, const Capabilities& capabilities,
                      const CostModel& model, const Rules& rules) {
  COMMRIG_TRY(check(request));
  const Size size{
      static_cast<double>(request.ranks), static_cast<double>(size_in_bytes(request)),
      static_cast<double>(capabilities.tuning.chunk_count(request) * request.element_bytes)};
  const Rules::Rule* const rule = rules.find(request);
  Choice choice{nullptr, {}, {}};
  double least = std::numeric_limits<double>::infinity();
  for (const Algorithm& algorithm : all_algorithms()) {
    const Form* const form = algorithm.form(request.collective);
    if (form == nullptr) continue;
    choice.candidates.push_back({&algorithm, cost_seconds(form->work(size), model),
                                 why_not(algorithm, request, capabilities)});
    const Candidate& candidate = choice.candidates.back();
    if (rule != nullptr && rule->algorithm == &algorithm && !candidate.refused.empty()) {
      return Error::make(Code::kNoAlgorithm,
                         fmt::format("{} by {}, as \"{}\" asks: it {}", name(request.collective),
                                     algorithm.name, rule->text, candidate.refused));
    }
    if (!candidate.refused.empty() || candidate.seconds >= least) continue;
    least = candidate.seconds;
    choice.algorithm = &algorithm;
  }
  if (rule != nullptr) {
    choice.algorithm = rule->algorithm;
    choice.reason = fmt::format("asked for by \"{}\"", rule->text);
  } else {
    choice.reason = "least cost";
  }
  // Every collective has an algorithm of messages alone that rounds once, so that there is one.
  COMMRIG_CHECK(choice.algorithm != nullptr, std::string(name(request.collective)));
  return choice;
}

std::string to_string(const Choice& choice) {
  std::string text = fmt::format("{}: {}\n", choice.algorithm->name, choice.reason);
  for (const Candidate& each : choice.candidates) {
    text += fmt::format("  {} {:<20} {:>12.2f} us{}{}\n",
                        each.algorithm == choice.algorithm ? '*' : ' ', each.algorithm->name,
                        1e6 * each.seconds, each.refused.empty() ? "" : "  ", each.refused);
  }
  return text;
}

}  // namespace commrig::coll
