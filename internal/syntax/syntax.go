// Package syntax is what the words of a source text are: keywords, strings,
// comments. It knows the languages of which lexers.zip has a file, and says nothing of
// others.
//
// Texts are from outside. A pattern that is tried on one can take very long, so the time
// for all texts together is limited: what is left then is a text like any other.
package syntax

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/alecthomas/chroma/v2"
)

// Kind is what a word is. The zero value is a word that has no colour.
type Kind string

// The kinds of words.
const (
	Plain   Kind = ""
	Keyword Kind = "kw"
	Name    Kind = "nm" // of a function, a type, a tag or a key, where it is defined or called
	Value   Kind = "vl" // a number, a constant, a type of the language
	String  Kind = "st"
	Comment Kind = "cm"
)

// Word is a part of a line: several words of one kind are one.
type Word struct {
	Kind Kind
	Text string
}

// Reader reads texts. Its zero value reads none: use NewReader.
type Reader struct {
	remaining time.Duration
	lexers    map[string]chroma.Lexer // by names of files: finding one tries the patterns of all
}

// NewReader gives a Reader that takes no longer than so much for all that it reads.
func NewReader(most time.Duration) *Reader { return &Reader{most, map[string]chroma.Lexer{}} }

// Lines gives the words of each line of a text in the language of a file. It gives nil
// where the language is not known, or the text cannot be read in time. The words of a line
// together are the line, with the line break at its end.
func (r *Reader) Lines(path, text string) [][]Word {
	if r.remaining <= 0 {
		return nil
	}
	begun := time.Now()
	lexer := r.lexerOf(path)
	if lexer == nil {
		return nil
	}
	timer := time.NewTimer(r.remaining)
	defer timer.Stop()
	answer, give := make(chan [][]Word, 1), make(chan struct{})
	go func() { answer <- wordsOf(lexer, text, give) }()
	select {
	case words := <-answer:
		if r.remaining -= time.Since(begun); r.remaining <= 0 {
			return nil
		}
		return words
	case <-timer.C: // a pattern in it ends by itself, soon after
		close(give)
		r.remaining = 0
		return nil
	}
}

// lexerOf gives the lexer for a file, or nil.
func (r *Reader) lexerOf(path string) chroma.Lexer {
	name := filepath.Base(path)
	lexer, known := r.lexers[name]
	if !known {
		lexer = lexers().Match(name)
		r.lexers[name] = lexer
	}
	return lexer
}

// wordsOf reads a text until told to give it up.
func wordsOf(lexer chroma.Lexer, text string, give <-chan struct{}) (lines [][]Word) {
	// Chroma panics over some texts, such as one that ends within a state that a rule takes
	// two levels off. What it could not read is shown without colours.
	defer func() {
		if recover() != nil {
			lines = nil
		}
	}()
	next, err := lexer.Tokenise(&chroma.TokeniseOptions{State: "root"}, text)
	if err != nil {
		return nil
	}
	var line []Word
	var read strings.Builder
	for token := next(); token != chroma.EOF; token = next() {
		select {
		case <-give:
			return nil
		default:
		}
		read.WriteString(token.Value)
		for part := range strings.Lines(token.Value) {
			line = with(line, Word{kindOf(token.Type), part})
			if strings.HasSuffix(part, "\n") {
				lines, line = append(lines, line), nil
			}
		}
	}
	if line != nil {
		lines = append(lines, line)
	}
	if read.String() != text { // some lexers add or change line breaks
		return nil
	}
	return lines
}

// with adds a word to a line. Blanks have no colour, so they go with the word before.
func with(line []Word, w Word) []Word {
	if n := len(line); n > 0 && (line[n-1].Kind == w.Kind || strings.TrimSpace(w.Text) == "") {
		line[n-1].Text += w.Text
		return line
	}
	return append(line, w)
}

// kindOf says what a token of chroma is for us.
func kindOf(t chroma.TokenType) Kind {
	switch {
	case t == chroma.KeywordType, t == chroma.KeywordConstant, t == chroma.NameBuiltin, t == chroma.NameConstant, t.InSubCategory(chroma.LiteralNumber):
		return Value
	case t.InCategory(chroma.Keyword), t == chroma.OperatorWord:
		return Keyword
	case t.InCategory(chroma.Comment):
		return Comment
	case t.InCategory(chroma.Literal):
		return String
	}
	switch t {
	case chroma.NameFunction, chroma.NameClass, chroma.NameTag, chroma.NameAttribute, chroma.NameDecorator, chroma.GenericHeading, chroma.GenericSubheading:
		return Name
	}
	return Plain
}
