#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int64_t kernel(const int64_t *numbers, int64_t number)
{
    int64_t total = 0;
    for (int64_t i = 0; i < number; i++) {
        char text[24];
        snprintf(text, sizeof text, "0x%lx", (long)numbers[i]);
        int64_t again = strtol(text, NULL, 16);
        if (again != numbers[i])
            abort();
        total += again;
    }
    return total;
}
