// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "topo/json_document.h"

namespace commrig::topo {

// Walks through a JSON text piece by piece: blanks, separators, strings, words. What stands there
// but is not that of JSON is taken for what it looks like, with a fault. What the pieces make
// together is the parser's business. Not thread-safe; the text must outlive it.
class JsonScanner {
 public:
  explicit JsonScanner(std::string_view text) : text_(text) {}

  std::string_view text() const { return text_; }
  std::size_t place() const { return at_; }
  bool at_end() const { return at_ >= text_.size(); }
  // The byte at this place; '\0' at the end.
  char here() const { return at_end() ? '\0' : text_[at_]; }
  void step() { ++at_; }

  // Past a byte-order mark and words before the first bracket. False for texts that are not UTF-8
  // or longer than JsonDocument::kBytesMax: these are one fault.
  bool start();
  // Past blanks and comments.
  void skip_blank();
  // Past "..." with its comma. False where there is none.
  bool take_ellipsis();
  // Past `wanted`, a comma or colon, or what looks like it. False where there is neither.
  bool take(char wanted);

  struct String {
    Span inside{};                         // without the quotes
    std::optional<std::string> decoded{};  // where it differs from these bytes
  };
  // The string that starts here; nothing where none does.
  std::optional<String> take_string();
  // A key without quotes; nothing where none starts here.
  std::optional<Span> take_bare_key();
  // What stands here up to the next separator or blank, at least one character: kNull, kBool,
  // kNumber, or kBroken.
  JsonKind take_word();
  // A character that belongs nowhere.
  void take_stray();
  // Past the value that is opened here, by its brackets alone.
  void skip_nested();

  void fault(SyntaxKind kind, std::size_t begin, std::size_t end, std::string what,
             std::optional<Edit> edit = {});
  std::vector<SyntaxFault> faults{};  // at most JsonDocument::kFaultsMax
  std::size_t faults_dropped = 0;

 private:
  bool at(std::string_view what) const { return text_.substr(at_, what.size()) == what; }
  bool is_readable();
  void take_comment(std::size_t end);
  std::string_view opening_quote() const;
  String take_plain_string();
  String take_foreign_string(std::string_view opening);

  std::string_view text_;
  std::size_t at_ = 0;
};

// `text` instead of the bytes from `begin` to `end`.
Edit replacement(std::size_t begin, std::size_t end, std::string text);

}  // namespace commrig::topo
