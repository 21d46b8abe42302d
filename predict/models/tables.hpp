#pragma once

#include "predict/models.hpp"

// One for each row of the list in models.cpp. Inputs are those of run/'s list of networks.
namespace narrowcast {

Model mnist_mlp_table();
Model cifar_conv_table();
Model d16_alexnet_table();
Model resnet20_table();
Model resnet110_table();
Model resnet18_table();
Model davidnet_table();
Model lstm_table();
Model alexnet_table();
Model vgg19_table();
Model resnet50_table();
Model resnet152_table();
Model bn_inception_table();
Model lstm_an4_table();
Model fcn_table();
Model gpt2_table();

}  // namespace narrowcast
