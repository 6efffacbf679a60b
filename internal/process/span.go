package process

import "context"

// Follower is told that work of that name begins. It gives the context of the work, and
// what is to be called with the error of its end, once.
type Follower func(ctx context.Context, name string) (context.Context, func(error))

type key struct{}

// WithFollower gives a context in which work is told to a follower.
func WithFollower(ctx context.Context, f Follower) context.Context {
	return context.WithValue(ctx, key{}, f)
}

// StartSpan tells that work begins. The function that it gives tells of its end.
func StartSpan(ctx context.Context, name string) (context.Context, func(error)) {
	if f, ok := ctx.Value(key{}).(Follower); ok {
		return f(ctx, name)
	}
	return ctx, func(error) {}
}

type phase struct{}

// WithinPhase gives a context for work on a phase, which a follower is told of so where
// several phases are at work at the same time.
func WithinPhase(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, phase{}, name)
}

// SpanPhase gives the phase that Within has named, or "".
func SpanPhase(ctx context.Context) string {
	name, _ := ctx.Value(phase{}).(string)
	return name
}
