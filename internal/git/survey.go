package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// Survey is what origin has of many branches now, fetched to be looked at. Its Source has
// them as branches of origin, and all that the user's repository holds as objects; the
// branches of the user are not in it, and nothing of it is in the user's repository.
type Survey struct {
	*Source
	line  line
	tried map[string]bool // commits that origin was asked for
}

// surveyWithin is how long origin has for an answer.
const surveyWithin = time.Minute

// NewSurvey fetches the newest commits of refs of origin whose full names begin as within
// says; of all that there are, choose says which. The token, if not nil, is used in place
// of the user's own credentials. It lies in dir, which no agent in a sandbox may write to;
// what a process that was killed has left there is removed. The result has to be closed.
func NewSurvey(ctx context.Context, s *Source, dir string, token func(context.Context) (string, error), within []string, choose func([]Ref) []Ref) (*Survey, error) {
	if s.origin == nil {
		return nil, errors.New("there is no origin")
	}
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	if _, err := s.apartIn(dir); err != nil {
		return nil, err
	}
	v := &Survey{&Source{}, line{src: s, remote: s.origin, token: token, patience: surveyWithin}, map[string]bool{}}
	*v.Source = *s
	v.CommonDir, v.promisors = dir, nil // what is missing is not fetched one by one
	v.store = &store{Place: func(context.Context) (call, error) { return v.inspection(), nil }}
	out, err := v.talk(ctx, append([]string{"ls-remote", "--refs", "--end-of-options", v.origin.fetch}, RefsBeginning(within)...)...)
	if chosen := choose(ParseRefs(out)); err == nil && len(chosen) > 0 {
		err = v.fetch(ctx, refsFetched(chosen)...)
	}
	if err != nil {
		v.Close()
		return nil, fmt.Errorf("fetch branches of origin: %w", err)
	}
	return v, nil
}

// Need fetches those of some commits that are not here, each alone. One that origin does
// not give stays missing, and is not asked for again.
func (v *Survey) Need(ctx context.Context, commits ...string) error {
	within, stop := context.WithTimeout(ctx, surveyWithin)
	defer stop()
	for _, commit := range commits {
		if !isHash(commit) || v.tried[commit] {
			continue
		}
		v.tried[commit] = true
		if found, err := v.store.Ask(within, commit); err != nil || found[0].Kind == "" {
			_ = v.fetch(within, "+"+commit+":refs/reprise/needed/"+commit) // a record of others may name any
		}
	}
	return ctx.Err()
}

// fetch asks origin to leave files out that are larger than any record.
func (v *Survey) fetch(ctx context.Context, what ...string) error {
	_, err := v.talk(ctx, append(append(FetchArgs(), "--depth=1", "--filter=blob:limit=64m", "--end-of-options", v.origin.fetch), what...)...)
	return err
}

// talk reads no configuration that something else has written, and leaves none by which
// git would ask origin for the files that were left out: they are not here.
func (v *Survey) talk(ctx context.Context, args ...string) (out []byte, err error) {
	if err = guardDir(v.CommonDir, v.basics()); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, guardDir(v.CommonDir, v.basics())) }()
	return v.line.do(ctx, call{Dir: v.CommonDir, Env: []string{"GIT_DIR=" + v.CommonDir}, Args: args, Limit: 4 << 20})
}

// Close removes what was fetched.
func (v *Survey) Close() {
	v.store.Close()
	_ = os.RemoveAll(v.CommonDir) // what is left, the next survey removes
}
