/* What functions of MPI do with all their arguments. */
#ifndef GOLCI_FRONT_H
#define GOLCI_FRONT_H

#include "abi.h"

/* MAP is macro m of each of up to 14 arguments, with commas between. EACH args, in a call of a macro, is the arguments
   without parentheses. */
#define MAP(m, ...) \
    NTH(__VA_ARGS__, MAP14, MAP13, MAP12, MAP11, MAP10, MAP9, MAP8, MAP7, MAP6, MAP5, MAP4, MAP3, MAP2, MAP1) \
    (m, __VA_ARGS__)
#define NTH(a, b, c, d, e, f, g, h, i, j, k, l, m, n, nth, ...) nth
#define MAP1(m, a) m(a)
#define MAP2(m, a, ...) m(a), MAP1(m, __VA_ARGS__)
#define MAP3(m, a, ...) m(a), MAP2(m, __VA_ARGS__)
#define MAP4(m, a, ...) m(a), MAP3(m, __VA_ARGS__)
#define MAP5(m, a, ...) m(a), MAP4(m, __VA_ARGS__)
#define MAP6(m, a, ...) m(a), MAP5(m, __VA_ARGS__)
#define MAP7(m, a, ...) m(a), MAP6(m, __VA_ARGS__)
#define MAP8(m, a, ...) m(a), MAP7(m, __VA_ARGS__)
#define MAP9(m, a, ...) m(a), MAP8(m, __VA_ARGS__)
#define MAP10(m, a, ...) m(a), MAP9(m, __VA_ARGS__)
#define MAP11(m, a, ...) m(a), MAP10(m, __VA_ARGS__)
#define MAP12(m, a, ...) m(a), MAP11(m, __VA_ARGS__)
#define MAP13(m, a, ...) m(a), MAP12(m, __VA_ARGS__)
#define MAP14(m, a, ...) m(a), MAP13(m, __VA_ARGS__)
#define EACH(...) __VA_ARGS__

/* LEAVES is the body of a function that returns what call gives, and tells of errors with its arguments, which follow.
   letters are their kinds: see left. */
#define LEAVES(call, name, letters, ...) LEAVES_WITH(call, name, letters, __VA_ARGS__)
#define LEAVES_WITH(call, name, letters, ...) \
    { \
        int class = call; \
        return __builtin_expect(class == MPI_SUCCESS, 1) \
            ? class \
            : left(class, name, letters "(" #__VA_ARGS__ ")", \
                  (const unsigned long[]){__VA_OPT__(MAP(AS_WORD, __VA_ARGS__))}); \
    }
#define AS_WORD(arg) (unsigned long)arg

#endif
