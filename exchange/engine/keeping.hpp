#pragma once

#include <string>
#include <vector>

#include "collective/conversation.hpp"
#include "exchange/engine/codecs.hpp"
#include "exchange/engine/residuals.hpp"
#include "exchange/exchange.hpp"

// Residuals as arrays:
//   residual/ranks                        i64: of how many ranks they are
//   residual/sender/<rank>/<tensor>       f32, all of it
//   residual/owner/<rank>/<begin>/<tensor>  f32, the part from `begin` on that is not zero
//   residual/passage/<rank>/<tensor>      u8, text: algorithm and codec of the owner's
namespace narrowcast {

// By tensor. All ranks call it; rank 0 gets all of it.
std::vector<Array> save_residuals(const std::vector<Tensor>& tensors,
                                  const std::vector<Residual>& residuals, Conversation& group);

// What is wrong with what rank 0 has, the same words on all ranks; nothing: they can be loaded.
std::string judge_residuals(const std::vector<Array>& saved, const std::vector<Tensor>& tensors,
                            Codecs& codecs, Conversation& group);

// What rank 0 has, for this rank.
std::vector<Residual> load_residuals(const std::vector<Array>& saved,
                                     const std::vector<Tensor>& tensors, Codecs& codecs,
                                     Conversation& group);

}  // namespace narrowcast
