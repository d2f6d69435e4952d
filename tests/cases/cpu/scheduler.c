// The scheduler of the CPU runner without the runner: blocks of fibers with two barriers each.
// Prints the order of the turns; the numbers in it live in callee-saved registers across them.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct trap { int64_t block; int32_t thread, site; };
struct fiber { void *sp, *stack; int32_t status, site; };
struct shared { void *address; int64_t bytes; };
struct state {
  uint32_t thread[3], block[3], block_dim[3], grid_dim[3];
  uint32_t dynamic_bytes, threads, rank, lenient;
  void *dynamic, *scheduler;
  struct fiber *fibers;
  void **stacks;
  int64_t free_stacks;
  uint32_t *order;
  void (*kernel)(void *);
  void *arguments;
  uint64_t random;
  int64_t block_rank, trap_count, threads_done;
  struct shared *shared;
  int64_t shared_count, damaged_shared, damaged_byte;
  struct trap traps[64];
  int64_t heap_used, heap_bytes, heap_refused, heap_asked, heap_block, heap_rank, heap_traps;
};

static struct state state;
struct state *const __fc_cpu_state = &state;

int __fc_cpu_run(int64_t *ranks, int64_t count);
void __fc_cpu_barrier(int site);
void __fc_cpu_trap(int site);
void *__fc_host_malloc(int64_t size) { return malloc((size_t)size); }
void __fc_host_free(void *block) { free(block); }

static void kernel(void *argument) {
  double scale = *(double *)argument;
  volatile char frame[256];
  uint32_t rank = state.rank, x = state.thread[0], y = state.thread[1];
  frame[rank] = (char)rank;
  printf("begin %u (%u, %u) of block %u\n", rank, x, y, state.block[0]);
  __fc_cpu_barrier(1);
  if (rank == 2) __fc_cpu_trap(9);
  scale *= rank;
  __fc_cpu_barrier(2);
  printf("end %u %.2f %d\n", rank, scale, frame[rank]);
}

int main(void) {
  enum { THREADS = 4, STACK = 1 << 16 };
  double argument = 1.25;
  struct fiber fibers[THREADS] = {0};
  void *stacks[THREADS];
  uint32_t order[THREADS];
  for (int i = 0; i < THREADS; ++i) {
    stacks[i] = (char *)aligned_alloc(16, STACK) + STACK;
    order[i] = i;
  }
  state.block_dim[0] = 2, state.block_dim[1] = 2, state.block_dim[2] = 1;
  state.grid_dim[0] = 3, state.grid_dim[1] = 1, state.grid_dim[2] = 1;
  state.threads = THREADS;
  state.fibers = fibers;
  state.stacks = stacks;
  state.free_stacks = THREADS;
  state.order = order;
  state.kernel = kernel;
  state.arguments = &argument;
  int64_t ranks[] = {2, 0};
  int code = __fc_cpu_run(ranks, 2);
  printf("code %d, %d traps, first by thread %d at %d, %d stacks\n", code, (int)state.trap_count,
         state.traps[0].thread, state.traps[0].site, (int)state.free_stacks);
  return 0;
}
