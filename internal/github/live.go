package github

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/google/go-github/v60/github"
)

// Live is the one comment of a thread that shows how things stand now.
type Live struct {
	t      *Thread
	marker string

	mu       sync.Mutex
	comment  Comment   // its ID is 0 as long as there is none
	checked  bool      // that it is the right one
	shown    string    // what it reads
	next     time.Time // no edit before
	renewals int       // how often it was made again after somebody deleted it
}

const liveEvery = 10 * time.Second

// Live is the comment that begins with marker and was written by the account of the token: the one with this id, or
// the oldest if id is 0 or is not such a comment. It sends nothing; the first Show finds or creates it. A comment by
// anybody else is never touched, whatever it begins with. Marker is an HTML comment on one line.
func (t *Thread) Live(marker string, id int64) *Live {
	return &Live{t: t, marker: marker, comment: Comment{ID: id}}
}

// Show makes the comment read body, which is given without the marker or with it, and is cut where it is longer than
// a comment may be. There is at most one edit every ten seconds: a body that comes earlier is left out,
// and what reads like this already is not sent. A comment that was deleted is made again, once. Errors are an *Error,
// or why ctx was cancelled.
func (l *Live) Show(ctx context.Context, body string) error { return l.make(ctx, body, false) }

// Flush is Show without waiting. It is for the end.
func (l *Live) Flush(ctx context.Context, body string) error { return l.make(ctx, body, true) }

// make makes the comment read body, now or when it is time.
func (l *Live) make(ctx context.Context, body string, now bool) error {
	text, err := marked(l.marker, body)
	if err != nil {
		return fmt.Errorf("comment on %s: %w", l.t, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if text == l.shown || !now && l.t.o.Now().Before(l.next) {
		return nil
	}
	if err = l.put(ctx, text); err == nil {
		l.shown = text
	}
	l.next = l.t.o.Now().Add(liveEvery) // after a failure, too
	return err
}

// Comment says which comment it is: 0 and nothing before there is one.
func (l *Live) Comment() (id int64, url string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.comment.ID, l.comment.URL
}

func (l *Live) put(ctx context.Context, text string) error {
	if err := l.locate(ctx); err != nil {
		return err
	}
	if l.comment.ID != 0 && l.shown == text { // by an earlier process
		return nil
	}
	if l.comment.ID != 0 {
		err := l.edit(ctx, text)
		if !IsKind(err, NotFound, Gone) || l.renewals > 0 {
			return err
		}
		l.renewals++
		l.comment = Comment{}
	}
	c, err := l.t.Post(ctx, l.marker, text, time.Time{})
	if err != nil {
		return err
	}
	l.comment = c
	if c.Body == text {
		return nil
	}
	return l.edit(ctx, text) // it was found instead of made
}

// locate finds the comment. One that somebody only says is ours is not it.
func (l *Live) locate(ctx context.Context) error {
	if l.checked {
		return nil
	}
	if id := l.comment.ID; id != 0 {
		c, err := l.t.Comment(ctx, id)
		if err != nil && !IsKind(err, NotFound, Gone) {
			return err
		}
		me, known, err := l.t.whoami(ctx)
		switch {
		case err != nil:
			return err
		case known && c.ID == id && me.is(c.Author) && firstLine(c.Body) == l.marker:
			l.comment, l.shown = c, c.Body
		default:
			l.comment = Comment{}
		}
	}
	l.checked = true
	return nil
}

func (l *Live) edit(ctx context.Context, text string) error {
	w, _, err := do[github.IssueComment](ctx, l.t.api, Request{
		What: fmt.Sprintf("edit comment %d of %s", l.comment.ID, l.t), Needs: "issues: write", Method: http.MethodPatch, Path: l.t.commentPath(l.comment.ID), Body: map[string]any{"body": text},
	})
	if err != nil {
		return err
	}
	if url := commentURL(w.GetHTMLURL()); url != "" {
		l.comment.URL = url
	}
	return nil
}
