; The CPU runner's scheduler: runs the threads of a block as fibers.
;
; A pass over the block gives each thread its turn, in the order of the schedule; a turn ends
; at a barrier, with the thread's end, or with a trap. After a pass every thread that still
; lives waits at a barrier, and the next pass lets them go on. A thread gets a stack for its
; first turn and returns it at its end, so that kernels without barriers use one stack.
;
; The state is a structure in memory that the process which asked for the launch sees too: it
; can tell where a thread stood when the worker died. lto/cpu/state.py declares it in Python.

%fc.trap = type { i64, i32, i32 }        ; block's rank, thread's rank, site
%fc.fiber = type { ptr, ptr, i32, i32 }  ; saved stack pointer, its stack, status, site
%fc.shared = type { ptr, i64 }           ; shared memory with its guards: address, bytes

%fc.state = type {
  i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, ; 0-11: as in cpu.ll
  i32,            ; 12 bytes of dynamic shared memory
  i32,            ; 13 threads per block
  i32,            ; 14 rank of the running thread
  i32,            ; 15 rule for divergent barriers: 0 report, 1 let them pass
  ptr,            ; 16 start of dynamic shared memory
  ptr,            ; 17 stack pointer of the scheduler while a fiber runs
  ptr,            ; 18 fibers, one per thread of the block
  ptr,            ; 19 free stacks: array of their upper ends
  i64,            ; 20 number of free stacks
  ptr,            ; 21 order: array of thread ranks (i32)
  ptr,            ; 22 the kernel, as a function of its argument block
  ptr,            ; 23 argument block
  i64,            ; 24 random state; 0: threads in order of rank
  i64,            ; 25 rank of the running block
  i64,            ; 26 number of traps
  i64,            ; 27 threads run to their end
  ptr,            ; 28 shared memory: array of %fc.shared
  i64,            ; 29 its length
  i64,            ; 30 index of the shared memory found damaged
  i64,            ; 31 byte in it that was damaged
  [64 x %fc.trap],; 32 the first traps
  i64,            ; 33 bytes of the heap in use
  i64,            ; 34 size of the heap
  i64,            ; 35 number of times that it had too little
  i64,            ; 36 bytes asked for the last of these times,
  i64,            ; 37 by a thread of this block,
  i64,            ; 38 of this rank in it
  i64             ; 39 number of threads that trapped after such a time
}

@__fc_cpu_state = external constant ptr

; Statuses of a fiber; also in state.py: 0 fresh, 1 waiting, 2 ended, 3 trapped.
; Results of @__fc_cpu_run; also in state.py: 0 done, 1 some threads ended while others wait,
; 2 threads wait at different barriers, 3 shared memory written out of bounds.

declare void @__fc_cpu_switch(ptr, ptr)
declare ptr @__fc_cpu_prepare(ptr)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare ptr @__fc_host_malloc(i64)
declare void @__fc_host_free(ptr)

; The running thread's fiber.
define internal ptr @fiber() alwaysinline {
  %s = load ptr, ptr @__fc_cpu_state
  %rank.p = getelementptr %fc.state, ptr %s, i32 0, i32 14
  %rank = load i32, ptr %rank.p
  %fibers.p = getelementptr %fc.state, ptr %s, i32 0, i32 18
  %fibers = load ptr, ptr %fibers.p
  %f = getelementptr %fc.fiber, ptr %fibers, i32 %rank
  ret ptr %f
}

; Ends the running thread's turn.
define internal void @suspend(i32 %status, i32 %site) noinline {
  %s = load ptr, ptr @__fc_cpu_state
  %f = call ptr @fiber()
  %status.p = getelementptr %fc.fiber, ptr %f, i32 0, i32 2
  store i32 %status, ptr %status.p
  %site.p = getelementptr %fc.fiber, ptr %f, i32 0, i32 3
  store i32 %site, ptr %site.p
  %scheduler.p = getelementptr %fc.state, ptr %s, i32 0, i32 17
  %scheduler = load ptr, ptr %scheduler.p
  call void @__fc_cpu_switch(ptr %f, ptr %scheduler)
  ret void
}

define void @__fc_cpu_barrier(i32 %site) noinline convergent {
  call void @suspend(i32 1, i32 %site)
  ret void
}

; Counts a thread that traps if the heap had too little for it before.
define internal void @starved(ptr %s) {
  %refused.p = getelementptr %fc.state, ptr %s, i32 0, i32 35
  %refused = load i64, ptr %refused.p
  %some = icmp ne i64 %refused, 0
  %block.p = getelementptr %fc.state, ptr %s, i32 0, i32 25
  %block = load i64, ptr %block.p
  %last.block.p = getelementptr %fc.state, ptr %s, i32 0, i32 37
  %last.block = load i64, ptr %last.block.p
  %same.block = icmp eq i64 %block, %last.block
  %rank.p = getelementptr %fc.state, ptr %s, i32 0, i32 14
  %rank.32 = load i32, ptr %rank.p
  %rank = zext i32 %rank.32 to i64
  %last.rank.p = getelementptr %fc.state, ptr %s, i32 0, i32 38
  %last.rank = load i64, ptr %last.rank.p
  %same.rank = icmp eq i64 %rank, %last.rank
  %same = and i1 %same.block, %same.rank
  %counts = and i1 %same, %some
  %one = zext i1 %counts to i64
  %traps.p = getelementptr %fc.state, ptr %s, i32 0, i32 39
  %traps = load i64, ptr %traps.p
  %sum = add i64 %traps, %one
  store i64 %sum, ptr %traps.p
  ret void
}

; Device code's malloc: 16 bytes before each block hold its size with them.
define ptr @__fc_cpu_malloc(i64 %size) noinline {
  %s = load ptr, ptr @__fc_cpu_state
  %used.p = getelementptr %fc.state, ptr %s, i32 0, i32 33
  %used = load i64, ptr %used.p
  %limit.p = getelementptr %fc.state, ptr %s, i32 0, i32 34
  %limit = load i64, ptr %limit.p
  %huge = icmp ugt i64 %size, %limit
  br i1 %huge, label %refuse, label %count
count:
  %whole = add i64 %size, 16
  %sum = add i64 %used, %whole
  %more = icmp ugt i64 %sum, %limit
  br i1 %more, label %refuse, label %take
take:
  %p = call ptr @__fc_host_malloc(i64 %whole)
  %none = icmp eq ptr %p, null
  br i1 %none, label %refuse, label %done
done:
  store i64 %whole, ptr %p
  store i64 %sum, ptr %used.p
  %block = getelementptr i8, ptr %p, i64 16
  ret ptr %block
refuse:
  %refused.p = getelementptr %fc.state, ptr %s, i32 0, i32 35
  %refused = load i64, ptr %refused.p
  %next = add i64 %refused, 1
  store i64 %next, ptr %refused.p
  %asked.p = getelementptr %fc.state, ptr %s, i32 0, i32 36
  store i64 %size, ptr %asked.p
  %rank.p = getelementptr %fc.state, ptr %s, i32 0, i32 25
  %rank = load i64, ptr %rank.p
  %last.block.p = getelementptr %fc.state, ptr %s, i32 0, i32 37
  store i64 %rank, ptr %last.block.p
  %thread.p = getelementptr %fc.state, ptr %s, i32 0, i32 14
  %thread.32 = load i32, ptr %thread.p
  %thread = zext i32 %thread.32 to i64
  %last.rank.p = getelementptr %fc.state, ptr %s, i32 0, i32 38
  store i64 %thread, ptr %last.rank.p
  ret ptr null
}

define void @__fc_cpu_free(ptr %block) noinline {
  %none = icmp eq ptr %block, null
  br i1 %none, label %done, label %give
give:
  %s = load ptr, ptr @__fc_cpu_state
  %p = getelementptr i8, ptr %block, i64 -16
  %whole = load i64, ptr %p
  %used.p = getelementptr %fc.state, ptr %s, i32 0, i32 33
  %used = load i64, ptr %used.p
  %left = sub i64 %used, %whole
  store i64 %left, ptr %used.p
  call void @__fc_host_free(ptr %p)
  br label %done
done:
  ret void
}

define void @__fc_cpu_trap(i32 %site) noinline noreturn {
  %s = load ptr, ptr @__fc_cpu_state
  %count.p = getelementptr %fc.state, ptr %s, i32 0, i32 26
  %count = load i64, ptr %count.p
  %next = add i64 %count, 1
  store i64 %next, ptr %count.p
  call void @starved(ptr %s)
  %room = icmp ult i64 %count, 64
  br i1 %room, label %record, label %leave
record:
  %entry = getelementptr %fc.state, ptr %s, i32 0, i32 32, i64 %count
  %block.p = getelementptr %fc.state, ptr %s, i32 0, i32 25
  %block = load i64, ptr %block.p
  store i64 %block, ptr %entry
  %rank.p = getelementptr %fc.state, ptr %s, i32 0, i32 14
  %rank = load i32, ptr %rank.p
  %entry.rank = getelementptr %fc.trap, ptr %entry, i32 0, i32 1
  store i32 %rank, ptr %entry.rank
  %entry.site = getelementptr %fc.trap, ptr %entry, i32 0, i32 2
  store i32 %site, ptr %entry.site
  br label %leave
leave:
  call void @suspend(i32 3, i32 %site)
  unreachable
}

; Where a fiber begins; @__fc_cpu_prepare makes its stack return to here.
define void @__fc_cpu_begin() noinline noreturn {
  %s = load ptr, ptr @__fc_cpu_state
  %kernel.p = getelementptr %fc.state, ptr %s, i32 0, i32 22
  %kernel = load ptr, ptr %kernel.p
  %arguments.p = getelementptr %fc.state, ptr %s, i32 0, i32 23
  %arguments = load ptr, ptr %arguments.p
  call void %kernel(ptr %arguments)
  call void @suspend(i32 2, i32 0)
  unreachable
}

; The byte of a guard at an index: a signalling NaN for f32, so that a value read is NaN and a
; value read and written back, being quiet, has changed.
define internal i8 @guard(i64 %i) alwaysinline {
  %low = and i64 %i, 3
  %bits = shl i64 %low, 3
  %shift = trunc i64 %bits to i32
  %word = lshr i32 2141562277, %shift ; 0x7FA5A5A5
  %byte = trunc i32 %word to i8
  ret i8 %byte
}

; Writes the 64 bytes of a guard.
define internal void @protect(ptr %at) {
entry:
  br label %body
body:
  %i = phi i64 [ 0, %entry ], [ %i.next, %body ]
  %p = getelementptr i8, ptr %at, i64 %i
  %byte = call i8 @guard(i64 %i)
  store i8 %byte, ptr %p
  %i.next = add i64 %i, 1
  %more = icmp ult i64 %i.next, 64
  br i1 %more, label %body, label %done
done:
  ret void
}

; Fills all shared memory with 0xFF (NaN as a float, -1 as an integer), and the guards.
define internal void @poison(ptr %s) {
entry:
  %table.p = getelementptr %fc.state, ptr %s, i32 0, i32 28
  %table = load ptr, ptr %table.p
  %count.p = getelementptr %fc.state, ptr %s, i32 0, i32 29
  %count = load i64, ptr %count.p
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %i.next, %body ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %body, label %done
body:
  %e = getelementptr %fc.shared, ptr %table, i64 %i
  %at = load ptr, ptr %e
  %bytes.p = getelementptr %fc.shared, ptr %e, i32 0, i32 1
  %bytes = load i64, ptr %bytes.p
  %data = getelementptr i8, ptr %at, i64 64
  %size = sub i64 %bytes, 128
  call void @llvm.memset.p0.i64(ptr %data, i8 -1, i64 %size, i1 false)
  %behind = getelementptr i8, ptr %data, i64 %size
  call void @protect(ptr %at)
  call void @protect(ptr %behind)
  %i.next = add i64 %i, 1
  br label %head
done:
  ret void
}

; The first byte of the guard at %at that has changed, or 64.
define internal i64 @damage(ptr %at) {
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %i.next, %good ]
  %more = icmp ult i64 %i, 64
  br i1 %more, label %body, label %out
body:
  %p = getelementptr i8, ptr %at, i64 %i
  %v = load i8, ptr %p
  %byte = call i8 @guard(i64 %i)
  %whole = icmp eq i8 %v, %byte
  br i1 %whole, label %good, label %out
good:
  %i.next = add i64 %i, 1
  br label %head
out:
  ret i64 %i
}

; Looks for writes into the 64 bytes before and behind each piece of shared memory. Notes the
; first and returns true.
define internal i1 @damaged(ptr %s) {
entry:
  %table.p = getelementptr %fc.state, ptr %s, i32 0, i32 28
  %table = load ptr, ptr %table.p
  %count.p = getelementptr %fc.state, ptr %s, i32 0, i32 29
  %count = load i64, ptr %count.p
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %i.next, %next ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %before, label %clean
before:
  %e = getelementptr %fc.shared, ptr %table, i64 %i
  %at = load ptr, ptr %e
  %bytes.p = getelementptr %fc.shared, ptr %e, i32 0, i32 1
  %bytes = load i64, ptr %bytes.p
  %low = call i64 @damage(ptr %at)
  %low.bad = icmp ult i64 %low, 64
  br i1 %low.bad, label %bad, label %behind
behind:
  %end = sub i64 %bytes, 64
  %end.p = getelementptr i8, ptr %at, i64 %end
  %high = call i64 @damage(ptr %end.p)
  %high.bad = icmp ult i64 %high, 64
  %high.at = add i64 %end, %high
  br i1 %high.bad, label %bad, label %next
next:
  %i.next = add i64 %i, 1
  br label %head
bad:
  %byte = phi i64 [ %low, %before ], [ %high.at, %behind ]
  %which.p = getelementptr %fc.state, ptr %s, i32 0, i32 30
  store i64 %i, ptr %which.p
  %byte.p = getelementptr %fc.state, ptr %s, i32 0, i32 31
  store i64 %byte, ptr %byte.p
  ret i1 true
clean:
  ret i1 false
}

; Shuffles the order (Fisher-Yates; splitmix64), if the schedule asks for it.
define internal void @shuffle(ptr %s, i32 %n) {
entry:
  %random.p = getelementptr %fc.state, ptr %s, i32 0, i32 24
  %seed = load i64, ptr %random.p
  %plain = icmp eq i64 %seed, 0
  br i1 %plain, label %done, label %start
start:
  %order.p = getelementptr %fc.state, ptr %s, i32 0, i32 21
  %order = load ptr, ptr %order.p
  br label %head
head:
  %i = phi i32 [ %n, %start ], [ %i.next, %body ]
  %state = phi i64 [ %seed, %start ], [ %state.next, %body ]
  %more = icmp ugt i32 %i, 1
  br i1 %more, label %body, label %store
body:
  %state.next = add i64 %state, -7046029254386353131
  %a1 = lshr i64 %state.next, 30
  %a2 = xor i64 %state.next, %a1
  %a3 = mul i64 %a2, -4658895280553007687
  %b1 = lshr i64 %a3, 27
  %b2 = xor i64 %a3, %b1
  %b3 = mul i64 %b2, -7723592293110705685
  %c1 = lshr i64 %b3, 31
  %draw = xor i64 %b3, %c1
  %wide = zext i32 %i to i64
  %j = urem i64 %draw, %wide
  %i.next = sub i32 %i, 1
  %p = getelementptr i32, ptr %order, i32 %i.next
  %q = getelementptr i32, ptr %order, i64 %j
  %x = load i32, ptr %p
  %y = load i32, ptr %q
  store i32 %y, ptr %p
  store i32 %x, ptr %q
  br label %head
store:
  %kept = or i64 %state, 1
  store i64 %kept, ptr %random.p
  br label %done
done:
  ret void
}

; Sets the thread index of rank %rank and gives the thread its turn.
define internal void @turn(ptr %s, i32 %rank, ptr %f) {
  %rank.p = getelementptr %fc.state, ptr %s, i32 0, i32 14
  store i32 %rank, ptr %rank.p
  %width.p = getelementptr %fc.state, ptr %s, i32 0, i32 6
  %width = load i32, ptr %width.p
  %height.p = getelementptr %fc.state, ptr %s, i32 0, i32 7
  %height = load i32, ptr %height.p
  %x = urem i32 %rank, %width
  %row = udiv i32 %rank, %width
  %y = urem i32 %row, %height
  %z = udiv i32 %row, %height
  store i32 %x, ptr %s
  %y.p = getelementptr %fc.state, ptr %s, i32 0, i32 1
  store i32 %y, ptr %y.p
  %z.p = getelementptr %fc.state, ptr %s, i32 0, i32 2
  store i32 %z, ptr %z.p
  %scheduler.p = getelementptr %fc.state, ptr %s, i32 0, i32 17
  %sp = load ptr, ptr %f
  call void @__fc_cpu_switch(ptr %scheduler.p, ptr %sp)
  ret void
}

; Takes a stack for a fresh thread.
define internal void @enter(ptr %s, ptr %f) {
  %free.p = getelementptr %fc.state, ptr %s, i32 0, i32 20
  %free = load i64, ptr %free.p
  %left = sub i64 %free, 1
  store i64 %left, ptr %free.p
  %stacks.p = getelementptr %fc.state, ptr %s, i32 0, i32 19
  %stacks = load ptr, ptr %stacks.p
  %slot = getelementptr ptr, ptr %stacks, i64 %left
  %stack = load ptr, ptr %slot
  %stack.p = getelementptr %fc.fiber, ptr %f, i32 0, i32 1
  store ptr %stack, ptr %stack.p
  %sp = call ptr @__fc_cpu_prepare(ptr %stack)
  store ptr %sp, ptr %f
  ret void
}

; Gives back the stack of a thread that has ended.
define internal void @leave(ptr %s, ptr %f) {
  %free.p = getelementptr %fc.state, ptr %s, i32 0, i32 20
  %free = load i64, ptr %free.p
  %stacks.p = getelementptr %fc.state, ptr %s, i32 0, i32 19
  %stacks = load ptr, ptr %stacks.p
  %slot = getelementptr ptr, ptr %stacks, i64 %free
  %stack.p = getelementptr %fc.fiber, ptr %f, i32 0, i32 1
  %stack = load ptr, ptr %stack.p
  store ptr %stack, ptr %slot
  %more = add i64 %free, 1
  store i64 %more, ptr %free.p
  ret void
}

; One pass over the block. Returns how many threads wait.
define internal i32 @pass(ptr %s, i32 %n) {
entry:
  call void @shuffle(ptr %s, i32 %n)
  %order.p = getelementptr %fc.state, ptr %s, i32 0, i32 21
  %order = load ptr, ptr %order.p
  %fibers.p = getelementptr %fc.state, ptr %s, i32 0, i32 18
  %fibers = load ptr, ptr %fibers.p
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %i.next, %next ]
  %waiting = phi i32 [ 0, %entry ], [ %waiting.next, %next ]
  %more = icmp ult i32 %i, %n
  br i1 %more, label %look, label %done
look:
  %rank.p = getelementptr i32, ptr %order, i32 %i
  %rank = load i32, ptr %rank.p
  %f = getelementptr %fc.fiber, ptr %fibers, i32 %rank
  %status.p = getelementptr %fc.fiber, ptr %f, i32 0, i32 2
  %status = load i32, ptr %status.p
  switch i32 %status, label %next [ i32 0, label %fresh
                                    i32 1, label %run ]
fresh:
  call void @enter(ptr %s, ptr %f)
  br label %run
run:
  call void @turn(ptr %s, i32 %rank, ptr %f)
  %after = load i32, ptr %status.p
  %waits = icmp eq i32 %after, 1
  br i1 %waits, label %wait, label %end
wait:
  %counted = add i32 %waiting, 1
  br label %next
end:
  call void @leave(ptr %s, ptr %f)
  br label %next
next:
  %waiting.next = phi i32 [ %waiting, %look ], [ %counted, %wait ], [ %waiting, %end ]
  %i.next = add i32 %i, 1
  br label %head
done:
  ret i32 %waiting
}

; Whether the threads that wait do so together: 0 yes, 1 some have ended, 2 at two barriers.
define internal i32 @divergence(ptr %s, i32 %n) {
entry:
  %fibers.p = getelementptr %fc.state, ptr %s, i32 0, i32 18
  %fibers = load ptr, ptr %fibers.p
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %i.next, %next ]
  %site = phi i32 [ -1, %entry ], [ %site.next, %next ]
  %more = icmp ult i32 %i, %n
  br i1 %more, label %look, label %together
look:
  %f = getelementptr %fc.fiber, ptr %fibers, i32 %i
  %status.p = getelementptr %fc.fiber, ptr %f, i32 0, i32 2
  %status = load i32, ptr %status.p
  switch i32 %status, label %next [ i32 1, label %waits
                                    i32 2, label %ended ]
waits:
  %own.p = getelementptr %fc.fiber, ptr %f, i32 0, i32 3
  %own = load i32, ptr %own.p
  %first = icmp eq i32 %site, -1
  %same = icmp eq i32 %site, %own
  %fine = or i1 %first, %same
  br i1 %fine, label %next, label %apart
next:
  %site.next = phi i32 [ %site, %look ], [ %own, %waits ]
  %i.next = add i32 %i, 1
  br label %head
together:
  ret i32 0
ended:
  ret i32 1
apart:
  ret i32 2
}

; Runs one block.
define internal i32 @block(ptr %s) {
entry:
  call void @poison(ptr %s)
  %n.p = getelementptr %fc.state, ptr %s, i32 0, i32 13
  %n = load i32, ptr %n.p
  %fibers.p = getelementptr %fc.state, ptr %s, i32 0, i32 18
  %fibers = load ptr, ptr %fibers.p
  br label %reset
reset:
  %i = phi i32 [ 0, %entry ], [ %i.next, %reset ]
  %f = getelementptr %fc.fiber, ptr %fibers, i32 %i
  %status.p = getelementptr %fc.fiber, ptr %f, i32 0, i32 2
  store i32 0, ptr %status.p
  %i.next = add i32 %i, 1
  %more = icmp ult i32 %i.next, %n
  br i1 %more, label %reset, label %passes
passes:
  %waiting = call i32 @pass(ptr %s, i32 %n)
  %over = icmp eq i32 %waiting, 0
  br i1 %over, label %check, label %judge
judge:
  %rule.p = getelementptr %fc.state, ptr %s, i32 0, i32 15
  %rule = load i32, ptr %rule.p
  %lenient = icmp eq i32 %rule, 1
  br i1 %lenient, label %passes, label %strict
strict:
  %verdict = call i32 @divergence(ptr %s, i32 %n)
  %fine = icmp eq i32 %verdict, 0
  br i1 %fine, label %passes, label %diverged
diverged:
  ret i32 %verdict
check:
  %done.p = getelementptr %fc.state, ptr %s, i32 0, i32 27
  %done = load i64, ptr %done.p
  %wide = zext i32 %n to i64
  %sum = add i64 %done, %wide
  store i64 %sum, ptr %done.p
  %bad = call i1 @damaged(ptr %s)
  %code = select i1 %bad, i32 3, i32 0
  ret i32 %code
}

; Runs the %count blocks whose ranks (x fastest) are at %ranks; stops at the first fault.
define i32 @__fc_cpu_run(ptr %ranks, i64 %count) {
entry:
  %s = load ptr, ptr @__fc_cpu_state
  %width.p = getelementptr %fc.state, ptr %s, i32 0, i32 9
  %width32 = load i32, ptr %width.p
  %width = zext i32 %width32 to i64
  %height.p = getelementptr %fc.state, ptr %s, i32 0, i32 10
  %height32 = load i32, ptr %height.p
  %height = zext i32 %height32 to i64
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %i.next, %next ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %body, label %done
body:
  %rank.p = getelementptr i64, ptr %ranks, i64 %i
  %rank = load i64, ptr %rank.p
  %current.p = getelementptr %fc.state, ptr %s, i32 0, i32 25
  store i64 %rank, ptr %current.p
  %x = urem i64 %rank, %width
  %row = udiv i64 %rank, %width
  %y = urem i64 %row, %height
  %z = udiv i64 %row, %height
  %x32 = trunc i64 %x to i32
  %y32 = trunc i64 %y to i32
  %z32 = trunc i64 %z to i32
  %x.p = getelementptr %fc.state, ptr %s, i32 0, i32 3
  store i32 %x32, ptr %x.p
  %y.p = getelementptr %fc.state, ptr %s, i32 0, i32 4
  store i32 %y32, ptr %y.p
  %z.p = getelementptr %fc.state, ptr %s, i32 0, i32 5
  store i32 %z32, ptr %z.p
  %code = call i32 @block(ptr %s)
  %fine = icmp eq i32 %code, 0
  br i1 %fine, label %next, label %fault
next:
  %i.next = add i64 %i, 1
  br label %head
fault:
  ret i32 %code
done:
  ret i32 0
}
