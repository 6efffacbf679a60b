// Package secrets is about what must not be seen: it finds it in a text, and
// masks it. It is asked where a text leaves: by package github for what is posted, by
// package environ for what is printed, by package leak for what is committed.
//
// A secret is a value that the user has, such as a token in a variable, or a
// text with the shape of one, such as a key of AWS. A value is known, so it is
// found however a program may have written it: encoded, escaped, cut to pieces
// or backwards. A shape is found as it stands; the shapes are the rules that
// come with gitleaks, and are read when the first text is looked through.
package secrets
