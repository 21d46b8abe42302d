#pragma once

#include <memory>

#include "train/networks/network.hpp"

// One for each row of the list in network.cpp.
namespace narrowcast {

std::shared_ptr<Network> mnist_mlp(const Workshop& workshop);
std::shared_ptr<Network> cifar_conv(const Workshop& workshop);
std::shared_ptr<Network> resnet20(const Workshop& workshop);
std::shared_ptr<Network> resnet110(const Workshop& workshop);
std::shared_ptr<Network> resnet18(const Workshop& workshop);
std::shared_ptr<Network> davidnet(const Workshop& workshop);
std::shared_ptr<Network> lstm(const Workshop& workshop);
std::shared_ptr<Network> alexnet(const Workshop& workshop);
std::shared_ptr<Network> vgg19(const Workshop& workshop);
std::shared_ptr<Network> resnet50(const Workshop& workshop);
std::shared_ptr<Network> resnet152(const Workshop& workshop);
std::shared_ptr<Network> bn_inception(const Workshop& workshop);
std::shared_ptr<Network> lstm_an4(const Workshop& workshop);
std::shared_ptr<Network> fcn(const Workshop& workshop);

}  // namespace narrowcast
