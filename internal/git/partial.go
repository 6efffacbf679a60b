package git

import (
	"context"
	"slices"
	"strings"
)

// promisor is a remote that sends the objects that a partial clone has left
// out, whenever a command needs them.
type promisor struct {
	*remote
	filter string // by which objects were left out, such as blob:none
}

// findPromisors reads which remotes the user's repository relies on for objects.
func (s *Source) findPromisors(ctx context.Context) error {
	var names []string
	for _, c := range s.config {
		if c.Key == "extensions.partialclone" {
			names = append(names, c.Value)
		}
		rest, isRemote := strings.CutPrefix(c.Key, "remote.")
		name, promises := strings.CutSuffix(rest, ".promisor")
		if isRemote && promises && slices.Contains([]string{"true", "yes", "on", "1"}, strings.ToLower(c.Value)) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		r, err := s.remote(ctx, name)
		if err != nil {
			return err
		}
		if r != nil {
			s.promisors = append(s.promisors, promisor{r, s.config.Get("remote." + name + ".partialclonefilter")})
		}
	}
	return nil
}

// Partial returns what was left out of a partial clone, as git was told it, such
// as "blob:none". It is "" for a clone that is whole.
func (s *Source) Partial() string {
	if len(s.promisors) == 0 {
		return ""
	}
	if filter := s.promisors[0].filter; filter != "" {
		return filter
	}
	return "some objects"
}

// promises are the settings by which git fetches objects that are missing.
func (s *Source) promises() []setting {
	var out []setting
	for _, p := range s.promisors {
		out = append(out, setting{Key: "remote." + p.name + ".url", Value: p.fetch}, setting{Key: "remote." + p.name + ".promisor", Value: "true"})
		if p.filter != "" {
			out = append(out, setting{Key: "remote." + p.name + ".partialclonefilter", Value: p.filter})
		}
	}
	return out
}

// read runs a git command that reads objects, which are given by their hash. In
// a partial clone those that are missing are fetched into the user's repository,
// as the user's own git would.
func (s *Source) read(ctx context.Context, args ...string) ([]byte, error) {
	return s.readUpTo(ctx, 0, args...)
}

// readUpTo is read of which only so many bytes are kept; 0 means all.
func (s *Source) readUpTo(ctx context.Context, limit int64, args ...string) ([]byte, error) {
	if len(s.promisors) == 0 {
		c := s.inspection(args...)
		c.Limit = limit
		return c.Do(ctx)
	}
	dir, remove, err := s.apart()
	if err != nil {
		return nil, err
	}
	defer remove()
	c := s.inApart(dir, args...)
	c.Limit = limit
	return s.promised().do(ctx, c)
}

// lookUp gives objects by name; in a partial clone by hash, and fetched like read
// does.
func (s *Source) lookUp(ctx context.Context, names ...string) ([]object, error) {
	if len(s.promisors) == 0 {
		return s.store.Ask(ctx, names...)
	}
	dir, remove, err := s.apart()
	if err != nil {
		return nil, err
	}
	defer remove()
	fetching := store{Place: func(ctx context.Context) (call, error) { return s.promised().ready(ctx, s.inApart(dir)) }}
	defer fetching.Close()
	return s.promised().ask(ctx, &fetching, names)
}

func (s *Source) promised() line { return line{src: s, remote: s.promisors[0].remote} }

// inApart is a command in a git directory that apart has made.
func (s *Source) inApart(dir string, args ...string) call {
	return call{Dir: dir, Env: []string{"GIT_DIR=" + dir, "GIT_OBJECT_DIRECTORY=" + s.objects()}, Args: args}
}
