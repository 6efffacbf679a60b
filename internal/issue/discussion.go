package issue

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/prompts"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// Discussion is what was said below an issue, as far as a run takes note of it.
type Discussion struct {
	Comments []Comment `json:"comments"` // the oldest first
	Older    int       `json:"older"`    // that were left out because all together would be too long
}

// Comment is what somebody has said.
type Comment struct {
	ID   int64     `json:"id"`
	By   string    `json:"by"`
	Role string    `json:"role,omitempty"` // that is the right to write or more; empty: the author of the issue, without it
	At   time.Time `json:"at"`
	Text string    `json:"text"`
}

// Hear gives an issue with what was said below it, and with the images of both.
type Hear func(ctx context.Context, from Reference, is Issue) (Issue, error)

// JSON is the discussion as it is kept on the branch, for ParseDiscussion to read.
func (d Discussion) JSON() ([]byte, error) {
	return text.JSON(d)
}

// Digest is that of the discussion as it is kept; "" of one without comments.
func (d Discussion) Digest() string {
	data, err := d.JSON()
	if len(d.Comments) == 0 || err != nil { // the latter cannot be
		return ""
	}
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// ParseDiscussion reads what JSON wrote.
func ParseDiscussion(data []byte) (d Discussion, err error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&d); err != nil {
		return d, fmt.Errorf("read the discussion of the issue: %w", err)
	}
	return d, nil
}

// Said gives the comments as prompts have them.
func (d Discussion) Said() (out []prompts.Said) {
	for _, c := range d.Comments {
		out = append(out, prompts.Said{By: c.By, Role: c.Role, At: c.At.UTC().Format("2006-01-02 15:04 UTC"), Text: c.Text})
	}
	return out
}

// By names who has written the comments, each once.
func (d Discussion) By() (names []string) {
	for _, c := range d.Comments {
		if !slices.Contains(names, c.By) {
			names = append(names, c.By)
		}
	}
	return names
}

// clean takes out of the comments what people who read them do not see. One of which nothing is left goes.
func (d *Discussion) clean() (removed []clean.Removal) {
	var left []Comment
	for _, c := range d.Comments {
		text, gone := clean.Text(c.Text)
		removed = append(removed, gone...)
		if c.Text = strings.TrimSpace(text); c.Text != "" {
			left = append(left, c)
		}
	}
	d.Comments = left
	return removed
}

// mask masks in the comments what must not be seen.
func (d *Discussion) mask(env environ.Env) {
	d.Comments = slices.Clone(d.Comments)
	for i := range d.Comments {
		d.Comments[i].Text = env.Finder().Mask(d.Comments[i].Text)
	}
}
