package prompts

import (
	"encoding/base32"
	"fmt"
	"io"
	"strings"
)

// minBoundary is the least length of a boundary that cannot be guessed.
const minBoundary = 16

// NewBoundary draws a boundary from rand that occurs in none of the texts:
// 16 letters and digits, which is 80 bits. The texts are usually Data.Texts. It returns "",
// which Render refuses, if rand fails or keeps giving what the texts contain.
func NewBoundary(rand io.Reader, texts ...string) string {
	// One draw collides by chance never; a few more tell bad luck from a
	// broken source.
	for range 8 {
		var b [10]byte
		if _, err := io.ReadFull(rand, b[:]); err != nil {
			return ""
		}
		if boundary := strings.ToLower(base32.StdEncoding.EncodeToString(b[:])); !anyContains(texts, boundary) {
			return boundary
		}
	}
	return ""
}

// Texts returns every value of d that comes from outside: what a boundary
// must not occur in.
func (d Data) Texts() []string {
	texts := []string{d.Issue.ID, d.Issue.URL, d.Issue.Title, d.Issue.Author, d.Issue.Body, d.Issue.Notes, d.Diff, d.State, d.Symptom}
	texts = append(texts, d.Issue.Labels...)
	if p := d.Part; p != nil {
		texts = append(append(append(texts, p.ID, p.Title, p.Goal), p.Files...), p.Others...)
	}
	if r := d.Rollback; r != nil {
		texts = append(texts, r.By, r.Reason)
		texts = append(texts, r.Earlier...)
		texts = append(texts, r.AffectedTests...)
		for _, c := range r.Comments {
			texts = append(texts, c.ID, c.File, c.At, c.Text, c.Side, c.Hunk)
		}
	}
	if f := d.Feedback; f != nil {
		texts = append(texts, f.texts()...)
	}
	for _, a := range d.Answers {
		texts = append(texts, a.Question, a.Answer)
	}
	for _, c := range d.Issue.Said {
		texts = append(texts, c.By, c.At, c.Text)
	}
	texts = append(texts, d.Others...)
	return texts
}

func (f *Feedback) texts() []string {
	var texts []string
	for _, g := range f.Gates {
		texts = append(texts, g.Gate, g.Why)
	}
	for _, x := range f.Findings {
		texts = append(texts, x.ID, x.Severity, x.Title, x.Problem, x.Impact, x.Solution, x.File, x.Status)
	}
	for _, c := range f.Checks {
		texts = append(append(texts, c.Output), c.Tests...)
	}
	texts = append(texts, f.Violations...)
	texts = append(append(texts, f.Missing...), f.Paths...)
	return append(append(texts, f.Invalid...), f.Conflict, f.Notice)
}

// checkBoundary says why d.Boundary does not protect d.
func checkBoundary(d Data) error {
	b := d.Boundary
	if len(b) < minBoundary || strings.Trim(b, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-") != "" {
		return fmt.Errorf("boundary %q: want %d or more letters, digits or hyphens, drawn at random; NewBoundary makes one", b, minBoundary)
	}
	if anyContains(d.Texts(), b) {
		return fmt.Errorf("boundary %q occurs in a text that it has to enclose; draw another with NewBoundary", b)
	}
	return nil
}

func anyContains(texts []string, s string) bool {
	for _, t := range texts {
		if strings.Contains(t, s) {
			return true
		}
	}
	return false
}
