package audit

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"
)

// Random returns the random source of one repetition of something that has a name: it depends on the seed, the name and the
// repetition alone, so that results are the same in whatever order, and on however many cores, repetitions are made.
func Random(seed, name string, repetition int) *rand.Rand {
	digest := sha256.Sum256([]byte(seed + "\x00" + name + "\x00" + strconv.Itoa(repetition)))
	return rand.New(rand.NewPCG(binary.LittleEndian.Uint64(digest[:8]), binary.LittleEndian.Uint64(digest[8:16])))
}

// Repeat does something n times on all cores and returns the results in order. do gets the source of its repetition (see
// Random). The first error, or the end of ctx, ends it. step, which may be nil, is called after each repetition, by one
// goroutine at a time.
func Repeat[T any](ctx context.Context, seed, name string, n int, step func(), do func(r *rand.Rand, repetition int) (T, error)) ([]T, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	results := make([]T, n)
	var lock sync.Mutex
	next := 0
	take := func() (repetition int, more bool) {
		lock.Lock()
		defer lock.Unlock()
		if next == n || ctx.Err() != nil {
			return 0, false
		}
		next++
		return next - 1, true
	}
	var wait sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		wait.Go(func() {
			for {
				i, more := take()
				if !more {
					return
				}
				result, err := do(Random(seed, name, i), i)
				if err != nil {
					cancel(err)
					return
				}
				results[i] = result
				if step != nil {
					lock.Lock()
					step()
					lock.Unlock()
				}
			}
		})
	}
	wait.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return results, nil
}
