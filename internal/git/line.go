package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/reprise-ci/reprise/internal/text"
)

// line is a way to talk with a remote.
type line struct {
	src      *Source
	remote   *remote
	token    func(context.Context) (string, error) // nil: the user's own credentials
	patience time.Duration                         // 0: the usual
	more     []setting                             // for this call
}

// do runs a command that may talk with the remote. Variables that c brings win.
func (l line) do(ctx context.Context, c call) ([]byte, error) {
	c, err := l.ready(ctx, c)
	if err != nil {
		return nil, err
	}
	var out []byte
	err = l.await(ctx, func(calm context.Context) error {
		var err error
		out, err = c.Do(calm)
		return err
	})
	return out, err
}

// ask asks a store whose git may talk with the remote.
func (l line) ask(ctx context.Context, from *store, names []string) (objects []object, err error) {
	err = l.await(ctx, func(calm context.Context) error {
		objects, err = from.Ask(calm, names...)
		return err
	})
	return objects, err
}

// ready gives c the environment for talking with the remote.
func (l line) ready(ctx context.Context, c call) (call, error) {
	settings, secrets := l.remote.settings, secretsIn(l.remote.settings)
	if l.token != nil {
		token, err := l.token(ctx)
		if err != nil {
			return call{}, fmt.Errorf("get a token for %s: %w", l.remote.name, err)
		}
		if settings, err = l.remote.withToken(token); err != nil {
			return call{}, err
		}
		secrets = append(secretsIn(settings), token)
	}
	settings, secrets = slices.Concat(settings, l.src.promises(), l.more), append(secrets, secretsIn(l.more)...)
	settings, c.Private = privately(settings)
	c.Env, c.Secrets = slices.Concat(l.src.env.Network(settings), l.src.config.BatchMode(l.src.env), c.Env), secrets
	return c, nil
}

// await runs a call to the remote, for as long as the patience lasts.
func (l line) await(ctx context.Context, talk func(context.Context) error) error {
	within := cmp.Or(l.patience, patience)
	calm, stop := context.WithTimeout(ctx, within)
	defer stop()
	err := talk(calm)
	if err != nil && calm.Err() != nil && ctx.Err() == nil {
		return &text.CauseError{Err: errNoAnswer, Why: text.CauseOf("git_no_answer", "{remote} has not answered in time, which is {time}: see whether it can be reached, and start again",
			"remote", l.remote.name, "time", within)}
	}
	return err
}

// patience is how long a call to the remote may take, large transfers and the
// remote's own checks included.
const patience = 15 * time.Minute

// errNoAnswer says that a remote which was reached did not come to an end.
var errNoAnswer = errors.New("has not answered in time")
