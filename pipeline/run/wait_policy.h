// How long OpenMP's idle threads look for work before they sleep.
#pragma once

namespace tunemix {

// libgomp reads this from the environment before main begins and has no call for it, so the program starts
// itself once more with it set, unless the user has (OMP_WAIT_POLICY, GOMP_SPINCOUNT). Its own default, some
// 3 ms, makes small loops many times slower where other programs take the cores: a thread that only waits
// keeps the one with the work from running (experiments/bench/boost.md). Programs started from here do not
// see it.
void set_wait_policy(char** argv);

}  // namespace tunemix
