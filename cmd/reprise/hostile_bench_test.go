package main

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/secrets"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// hostileUnits are texts that, repeated, make searches start over and over.
func hostileUnits() []string {
	return []string{
		"<!--", "-->", "[", "![", "](", `](a "`, "](a (", "](<", "<a ", `<a b="`, `b="<a" `, "[a]: b (\n", "<?", "\x1b]", "\u200d", "\U000E0041", "javascript:", "(data:", "&colon;",
		"```\n", "`", "\\", "\n", "\r", "\xff", "> ", "/run ", "--only ", "--restore ", "=", "a,", "@x ", "—", "漢字", "sk-", "ghp_", "AKIA", "-----BEGIN ", "eyJ", "eyJh.eyJ", "://a:b@", "token=", "hunter2-hunter", "%20", "xoxb-",
		"0123456789abcdef", "aGVsbG8=", "password: ", "AIza", "glpat-",
	}
}

// BenchmarkHostile takes texts made to be slow through what every text from
// outside goes through: a command is looked for, what is hidden is taken out,
// and secrets are masked. It reports the slowest of them, beside reading the
// same text once.
func BenchmarkHostile(b *testing.B) {
	finder := secrets.New(secrets.Secret{Name: "API_TOKEN", Value: "hunter2-hunter2-hunter2"})
	finder.Mask("what is prepared once does not count")
	for _, size := range []int{64 << 10, 1 << 20} {
		b.Run(fmt.Sprintf("%dkB", size>>10), func(b *testing.B) {
			var slowest, once time.Duration
			which := ""
			for _, unit := range hostileUnits() {
				text := strings.Repeat(unit, size/len(unit))
				took := leastOf(b.N, func() {
					_ = command.Parse("/rollback design "+text, false)
					clean, _ := clean.Text(text)
					_ = finder.Mask(clean)
				})
				if took > slowest {
					slowest, which = took, unit
					once = leastOf(b.N, func() { _ = utf8.RuneCountInString(strings.ToUpper(text)) })
				}
			}
			b.Logf("the slowest is %q", which)
			b.ReportMetric(float64(slowest.Microseconds())/1000, "slowest-ms")
			b.ReportMetric(float64(once.Microseconds())/1000, "once-ms")
		})
	}
}

// leastOf is the least time of the processor of n calls.
func leastOf(n int, do func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	least := time.Duration(math.MaxInt64)
	for range n {
		began := testenv.ThreadTime()
		do()
		least = min(least, testenv.ThreadTime()-began)
	}
	return least
}
