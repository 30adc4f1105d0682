// Prints the relations of Task Bench for the configurations below, one line a fact, in the form of golden.txt:
//
//   graph TYPE steps=S width=W radix=R period=P fraction=F index=I
//   step T offset O width W set D iterations I...   (of the load imbalance kernel, one for each point of the step)
//   set D point P: A-B ... / A-B ...                (dependencies / reverse dependencies, inclusive)
//
// With a checkout of Task Bench at revision bf4ad19 in $TASKBENCH:
//
//   make -C $TASKBENCH/core DEBUG=0
//   g++ -std=c++17 -I$TASKBENCH/core golden.cc -o golden $TASKBENCH/core/libcore.a && ./golden > golden.txt

#include <cstdio>
#include <vector>

#include "core.h"
#include "core_kernel.h"

static const char *names[] = {
    "trivial", "no_comm", "stencil_1d", "stencil_1d_periodic", "dom", "tree", "fft", "all_to_all", "nearest", "spread",
    "random_nearest"};

static void print(const std::vector<std::pair<long, long>> &list) {
  for (auto i : list) printf(" %ld-%ld", i.first, i.second);
}

static void show(DependenceType type, long steps, long width, long radix, long period, double fraction, long index) {
  TaskGraph g = TaskGraph();
  g.graph_index = index;
  g.timesteps = steps;
  g.max_width = width;
  g.dependence = type;
  g.radix = radix;
  g.period = period;
  g.fraction_connected = fraction;
  Kernel kernel = Kernel();
  kernel.type = LOAD_IMBALANCE;
  kernel.iterations = 1000;
  kernel.imbalance = 1.5;
  printf("graph %s steps=%ld width=%ld radix=%ld period=%ld fraction=%g index=%ld\n", names[type], steps, width, radix,
         period, fraction, index);
  for (long t = 0; t < steps; ++t) {
    long offset = g.offset_at_timestep(t), w = g.width_at_timestep(t);
    printf("step %ld offset %ld width %ld set %ld iterations", t, offset, w, g.dependence_set_at_timestep(t));
    for (long p = offset; p < offset + w; ++p) printf(" %ld", select_imbalance_iterations(kernel, index, t, p));
    printf("\n");
  }
  for (long d = 0; d < g.max_dependence_sets(); ++d) {
    for (long p = 0; p < width; ++p) {
      printf("set %ld point %ld:", d, p);
      print(g.dependencies(d, p));
      printf(" /");
      print(g.reverse_dependencies(d, p));
      printf("\n");
    }
  }
}

int main() {
  for (auto type : {TRIVIAL, NO_COMM, STENCIL_1D, DOM, TREE, ALL_TO_ALL}) {
    for (auto size : std::vector<std::pair<long, long>>{{1, 1}, {4, 4}, {9, 5}, {3, 8}}) {
      show(type, size.first, size.second, 0, 0, 0, 0);
    }
  }
  for (long width : {3, 5, 8}) show(STENCIL_1D_PERIODIC, 4, width, 0, 0, 0, 0);
  for (long width : {2, 3, 4, 7, 8, 9}) show(FFT, 9, width, 0, 0, 0, 0);
  for (long radix : {0, 1, 2, 3, 4, 5, 9}) show(NEAREST, 4, 7, radix, 0, 0, 0);
  for (long radix : {1, 2, 3, 4, 7}) show(SPREAD, 5, 7, radix, 1, 0, 0);
  show(SPREAD, 7, 8, 2, 3, 0, 0);
  show(SPREAD, 7, 12, 4, 3, 0, 0);
  for (double fraction : {0.0, 0.25, 0.75, 1.0}) {
    for (long radix : {1, 3, 6}) show(RANDOM_NEAREST, 5, 7, radix, 3, fraction, radix);
  }
}
