/* Memory that a C host sees comes from the library's own. HOST(name) makes a name of this library of `name`. */

#ifndef WEFT_HOSTED_MEMORY_H
#define WEFT_HOSTED_MEMORY_H

#include <stdbool.h>

void *HOST(own_alloc)(int64_t bytes);
void HOST(own_release)(void *memory);
int HOST(own_processor)(void);
int HOST(own_array)(const char *function, const char *file, const char *name, int rank, int size, int written, const void *given,
                    int64_t *words, weft_error *error); /* the words of a struct, or the code of what is wrong with it */

static inline void *rt_alloc(int64_t bytes) { return HOST(own_alloc)(bytes); }
static inline void rt_release(void *memory) { HOST(own_release)(memory); }

#define LARGEST_EXTENT ((int64_t)1 << 40)

#endif
