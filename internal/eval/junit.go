package eval

import (
	"encoding/xml"
	"fmt"
	"strings"

	"github.com/reprise-ci/reprise/internal/text"
)

// The form of JUnit, as most CI systems read it: one suite for each variant.
type junitSuites struct {
	XMLName xml.Name     `xml:"testsuites"`
	Suites  []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Time     string      `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Time    string        `xml:"time,attr"`
	Failure *junitFailure `xml:"failure,omitempty"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// junit writes the results as JUnit does.
func (r Report) junit() ([]byte, error) {
	var all junitSuites
	for _, v := range r.Variants {
		s, seconds := junitSuite{Name: v.Variant}, 0.0
		for _, one := range r.Results {
			if one.Variant != v.Variant {
				continue
			}
			c := junitCase{Class: one.Case, Name: fmt.Sprintf("run %d", one.Run), Time: fmt.Sprintf("%.3f", one.Facts.Seconds)}
			if !one.Solved {
				misses := make([]string, len(one.Misses))
				for i, m := range one.Misses {
					misses[i] = text.Flat(m)
				}
				c.Failure = &junitFailure{misses[0], strings.Join(misses, "\n")}
				s.Failures++
			}
			s.Cases, seconds = append(s.Cases, c), seconds+one.Facts.Seconds
		}
		s.Tests, s.Time = len(s.Cases), fmt.Sprintf("%.3f", seconds)
		all.Suites = append(all.Suites, s)
	}
	data, err := xml.MarshalIndent(all, "", "  ")
	return append([]byte(xml.Header), append(data, '\n')...), err
}
