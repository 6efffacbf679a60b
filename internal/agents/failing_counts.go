package agents

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// summary is a form of lines that say how many tests ran and failed.
type summary struct {
	pattern
	ran       []string // words whose figures add up to how many ran
	wordFirst bool     // as in "Failures: 2", not "2 failed"
}

var summaries = sync.OnceValue(func() (all []summary) {
	for _, s := range [][3]string{
		{" in ", `^=* ?(?:[0-9]+ [a-z]+,? )+in [0-9.]+s`, "passed failed error errors xfailed xpassed"}, // pytest
		{"Ran ", `^Ran [0-9]+ tests? in `, "test tests"},                                                // unittest
		{"test result: ", `^test result: `, "passed failed"},                                            // Cargo
		{" total", `^Test(?:s| Suites): +.*[0-9]+ total`, "total"},                                      // Jest
		{"Test", `^ *(?:Test Files|Tests) +[0-9]+ .*\([0-9]+\) *$`, "passed failed"},                    // Vitest
		{"ing", `^ +[0-9]+ (?:passing|failing)\b`, "passing failing"},                                   // Mocha
		{" example", `^[0-9]+ examples?, [0-9]+ failures?`, "example examples"},                         // RSpec
		{" assertions, ", `^[0-9]+ (?:runs|tests), `, "runs tests"},                                     // Minitest
		{" tests completed, ", `^[0-9]+ tests completed, `, "tests"},                                    // Gradle
	} {
		all = append(all, summary{pattern{s[0], regexp.MustCompile(s[1])}, strings.Fields(s[2]), false})
	}
	for _, s := range [][3]string{
		{"FAILED (", `^FAILED \(.*=[0-9]+\)$`, ""},                               // unittest
		{" ", `^(?:#|ℹ) (?:pass|fail|cancelled) [0-9]+$`, "pass fail cancelled"}, // Node.js
		{"Assertions: ", `^Tests: [0-9]+, Assertions: `, "tests"},                // PHPUnit
		{"Tests run: ", `Tests run: [0-9]+, Failures: `, "run"},                  // Maven
		{"Total: ", `^(?:Failed|Passed)! +- Failed: `, "total"},                  // .NET
	} {
		all = append(all, summary{pattern{s[0], regexp.MustCompile(s[1])}, strings.Fields(s[2]), true})
	}
	return all
})

// failures are words whose figures add up to how many failed.
func failures() []string {
	return []string{"failed", "fail", "failing", "failure", "failures", "error", "errors", "cancelled"}
}

var amounts = sync.OnceValues(func() (wordFirst, figureFirst *regexp.Regexp) {
	return regexp.MustCompile(`([A-Za-z]+)[:= ] *([0-9]{1,9})\b`), regexp.MustCompile(`\b([0-9]{1,9}) ([a-z]+)`)
})

// count takes a line if it says how many tests ran.
func (a *Account) count(line string) {
	i := slices.IndexFunc(summaries(), func(s summary) bool { return s.find(line) != nil })
	if i < 0 {
		return
	}
	s := summaries()[i]
	wordFirst, form := amounts()
	word, figure := 2, 1
	if s.wordFirst {
		form, word, figure = wordFirst, 1, 2
	}
	for _, m := range form.FindAllStringSubmatch(line, -1) {
		n, _ := strconv.Atoi(m[figure]) // it is made of at most nine figures
		w := strings.ToLower(m[word])
		if slices.Contains(s.ran, w) {
			a.ran += n
		}
		if slices.Contains(failures(), w) {
			a.failed += n
		}
	}
}
