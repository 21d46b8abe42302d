#pragma once

// Exceptions of the rooms as those of narrowcast/_errors.py, with the same words.
namespace narrowcast::python {

void translate_errors();

}  // namespace narrowcast::python
