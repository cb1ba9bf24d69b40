// f16 and bf16 on the host: conversion of single values, rounding once to even.
#pragma once

#include <cstdint>

namespace groove {

std::uint16_t half_bits(double value);
std::uint16_t bfloat16_bits(double value);
double half_value(std::uint16_t bits);
double bfloat16_value(std::uint16_t bits);

}  // namespace groove
