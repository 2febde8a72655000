#include <stdint.h>

static void sort_between(double *values, int64_t low, int64_t high)
{
    int64_t i = low, j = high;
    while (i < high) {
        double pivot = values[(low + high) / 2];
        while (i <= j) {
            while (values[i] < pivot)
                i++;
            while (values[j] > pivot)
                j--;
            if (i <= j) {
                double kept = values[i];
                values[i] = values[j];
                values[j] = kept;
                i++;
                j--;
            }
        }
        if (low < j)
            sort_between(values, low, j);
        low = i;
        j = high;
    }
}

void kernel(double *values, int64_t number)
{
    sort_between(values, 0, number - 1);
}
