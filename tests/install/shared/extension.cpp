#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <string>

#include "train.h"

// Other threads of Python go on meanwhile.
PYBIND11_MODULE(extension, module) {
  module.def("train", &train, pybind11::call_guard<pybind11::gil_scoped_release>());
  module.def("fail", [] { groove::ones({2, 3}).matmul(groove::ones({2, 3})); });
}
