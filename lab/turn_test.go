package lab

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"
)

func TestTurns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	take := func(ctx context.Context, shared bool) (func() error, error) {
		f, err := takeTurn(ctx, path, shared, t.Logf)
		if err != nil {
			return nil, err
		}
		return f.Close, nil
	}
	busy := func(shared bool) bool {
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		defer cancel()
		done, err := take(ctx, shared)
		if err == nil {
			done()
			return false
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		return true
	}
	test, err := take(context.Background(), true)
	if err != nil {
		t.Fatal(err)
	}
	if busy(true) {
		t.Error("two tests can't share the machine")
	}
	if !busy(false) {
		t.Error("a judged run does not wait for a test to end")
	}
	waits := make(chan error, 1)
	go func() {
		done, err := take(context.Background(), false)
		if err == nil {
			err = done()
		}
		waits <- err
	}()
	time.Sleep(50 * time.Millisecond)
	test()
	select {
	case err := <-waits:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the one who waited did not get its turn")
	}
	alone, err := take(context.Background(), false)
	if err != nil {
		t.Fatal(err)
	}
	defer alone()
	if !busy(true) || !busy(false) {
		t.Error("a judged run is not alone")
	}
}
