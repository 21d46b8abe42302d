#pragma once

#include <nanobind/nanobind.h>

// What the extension module is made of: a function for each file of this folder, which adds its
// functions and classes. All are called with plain buffers of float32, contiguous and in memory of
// the CPU; narrowcast/_arrays.py makes them of what users have.
namespace narrowcast::python {

void add_advice(nanobind::module_& module);
void add_codecs(nanobind::module_& module);
void add_collectives(nanobind::module_& module);
void add_emulate(nanobind::module_& module);
void add_exchange(nanobind::module_& module);
void add_letters(nanobind::module_& module);
void add_net(nanobind::module_& module);
void add_plans(nanobind::module_& module);
void add_turns(nanobind::module_& module);

}  // namespace narrowcast::python
