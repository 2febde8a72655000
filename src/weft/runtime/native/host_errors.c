/* Errors of a library for a C host: what a call that failed says. The generated header stands in front of this file. */

#include <stdarg.h>
#include <stdio.h>

__attribute__((cold, noinline, format(printf, 7, 8))) static int refuse(weft_error *error, int code, const char *function,
                                                                        const char *file, int line, const char *exception,
                                                                        const char *format, ...)
{
    if (error == NULL)
        return code;
    error->code = code;
    error->line = line;
    error->file = file;
    error->function = function;
    error->exception = exception;
    va_list values;
    va_start(values, format);
    vsnprintf(error->message, sizeof error->message, format, values);
    va_end(values);
    return code;
}
