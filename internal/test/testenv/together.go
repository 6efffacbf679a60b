package testenv

import (
	"flag"
	"runtime"
	"strconv"
)

// Together has more tests run at once than there are processors, so many times as many, unless
// somebody says how many: most of them wait for processes most of the time. They are not as many
// as large machines have processors, for they all need memory.
func Together(times, most int) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		_ = flag.Set("test.parallel", strconv.Itoa(min(times*runtime.GOMAXPROCS(0), most))) // a valid number
	}
}
