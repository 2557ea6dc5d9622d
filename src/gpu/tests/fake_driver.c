/* A libcuda on which cudarc runs: memory is the host's, the one kernel is saxpy, and what is asked of
 * streams and events is noted in order. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long address;

static __thread void *stack[64];
static __thread int depth;
static char said[1 << 16];

static void say(const char *format, ...) {
    va_list rest;
    size_t end = strlen(said);
    va_start(rest, format);
    vsnprintf(said + end, sizeof said - end, format, rest);
    va_end(rest);
}

const char *fake_said(void) { return said; }
void fake_forget(void) { said[0] = 0; }

int cuInit(unsigned flags) { return 0; }
int cuDriverGetVersion(int *version) { *version = 13000; return 0; }
int cuGetErrorName(int code, const char **name) { *name = "CUDA_ERROR_OF_THE_FAKE"; return 0; }
int cuDeviceGetCount(int *count) { *count = 1; return 0; }
int cuDeviceGet(int *device, int ordinal) { *device = ordinal; return 0; }
int cuDeviceGetAttribute(int *value, int which, int device) {
    /* Compute capability 9.0, and no memory pools, for which cudarc would take other calls. */
    *value = which == 75 ? 9 : which == 76 || which == 115 ? 0 : 64;
    return 0;
}
int cuDevicePrimaryCtxRetain(void **context, int device) { *context = (void *)0x1000; return 0; }
int cuDevicePrimaryCtxRelease_v2(int device) { return 0; }

int cuCtxGetCurrent(void **context) { *context = depth ? stack[depth - 1] : NULL; return 0; }
int cuCtxSetCurrent(void *context) {
    if (depth) depth--;
    if (context) stack[depth++] = context;
    return 0;
}
int cuCtxPushCurrent_v2(void *context) { stack[depth++] = context; return 0; }
int cuCtxPopCurrent_v2(void **context) { *context = stack[--depth]; return 0; }
int cuCtxSynchronize(void) { return 0; }

static long streams, events;
int cuStreamCreate(void **stream, unsigned flags) { *stream = (void *)++streams; return 0; }
int cuStreamDestroy_v2(void *stream) { return 0; }
int cuStreamSynchronize(void *stream) { return 0; }
int cuEventCreate(void **event, unsigned flags) { *event = (void *)++events; return 0; }
int cuEventDestroy_v2(void *event) { return 0; }
int cuEventRecord(void *event, void *stream) {
    say("event %ld records stream %ld\n", (long)event, (long)stream);
    return 0;
}
int cuStreamWaitEvent(void *stream, void *event, unsigned flags) {
    say("stream %ld waits for event %ld\n", (long)stream, (long)event);
    return getenv("FAKE_WAITS_FAIL") ? 905 : 0;
}

int cuMemAlloc_v2(address *memory, size_t bytes) { *memory = (address)malloc(bytes); return 0; }
int cuMemFree_v2(address memory) { free((void *)memory); return 0; }
int cuMemcpyHtoDAsync_v2(address to, const void *from, size_t bytes, void *stream) {
    memcpy((void *)to, from, bytes);
    return 0;
}
int cuMemcpyDtoHAsync_v2(void *to, address from, size_t bytes, void *stream) {
    memcpy(to, (void *)from, bytes);
    return 0;
}

int cuLibraryLoadData(void **library, const void *code, int *options, void **values, unsigned count,
                      int *more, void **more_values, unsigned more_count) {
    *library = (void *)1;
    return memcmp(code, "\x7f" "ELF", 4) ? 218 : 0;
}
int cuLibraryUnload(void *library) { return 0; }
int cuLibraryGetKernel(void **kernel, void *library, const char *name) {
    *kernel = (void *)2;
    return strcmp(name, "saxpy") ? 500 : 0;
}
static float weights[2] = {1.5f, 2.5f};
int cuLibraryGetGlobal(address *memory, size_t *bytes, void *library, const char *name) {
    *memory = (address)weights;
    *bytes = sizeof weights;
    return strcmp(name, "weights") ? 500 : 0;
}
int cuKernelGetFunction(void **function, void *kernel) { *function = kernel; return depth ? 0 : 201; }
int cuKernelGetParamInfo(void *kernel, size_t index, size_t *offset, size_t *bytes) {
    static const size_t sizes[] = {4, 4, 8, 8}, offsets[] = {0, 4, 8, 16};
    if (index > 3) return 1;
    *offset = offsets[index];
    *bytes = sizes[index];
    return 0;
}
int cuFuncGetAttribute(int *value, int which, void *function) { *value = 49152; return 0; }
int cuFuncSetAttribute(void *function, int which, int value) { return 0; }
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function, int threads, size_t s) {
    *blocks = 1;
    return 0;
}
int cuOccupancyMaxPotentialBlockSize(int *grid, int *block, void *function, void *of, size_t s,
                                     int most) {
    *grid = *block = 1;
    return 0;
}

int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void *stream, void **arguments, void **extra) {
    int n = *(int *)arguments[0];
    float a = *(float *)arguments[1], *x = *(float **)arguments[2], *y = *(float **)arguments[3];
    say("launch on stream %ld, %u blocks of %u\n", (long)stream, gx, bx);
    if (!depth || stack[depth - 1] != (void *)0x1000) return 201;
    for (int i = 0; i < n; i++) y[i] += a * x[i];
    return 0;
}
int cuLaunchCooperativeKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                              unsigned by, unsigned bz, unsigned shared, void *stream,
                              void **arguments) {
    return 801;
}
