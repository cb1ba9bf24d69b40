// f16 and bf16 on the host: conversion of single values, rounding once to even. A NaN becomes the
// canonical quiet one of its sign.
#pragma once

#include <cstdint>

namespace groove {

std::uint16_t half_bits(double value);
std::uint16_t bfloat16_bits(double value);
double half_value(std::uint16_t bits);
double bfloat16_value(std::uint16_t bits);

// The same between f32 and the 16-bit formats: what the interpreter means by these conversions.
std::uint16_t half_from_float(float value);
std::uint16_t bfloat16_from_float(float value);
float float_from_half(std::uint16_t bits);
float float_from_bfloat16(std::uint16_t bits);

}  // namespace groove
