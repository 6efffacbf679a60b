package metadata

import (
	"fmt"
	"testing"
)

// sizes are how many rollbacks the records of the benchmarks have.
var sizes = []int{10, 10000}

func BenchmarkParse(b *testing.B) {
	each(b, func(b *testing.B, r Run, data []byte) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			if _, err := Parse(data, File); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkFormat(b *testing.B) {
	each(b, func(b *testing.B, r Run, data []byte) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			if _, err := Format(r); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	each(b, func(b *testing.B, r Run, _ []byte) {
		for b.Loop() {
			if err := r.Check(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkCheckNext(b *testing.B) {
	each(b, func(b *testing.B, r Run, _ []byte) {
		next := r.Clone()
		next.Revision++
		for b.Loop() {
			if err := CheckNext(r, next); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkClone(b *testing.B) {
	each(b, func(b *testing.B, r Run, _ []byte) {
		for b.Loop() {
			_ = r.Clone()
		}
	})
}

func each(b *testing.B, bench func(b *testing.B, r Run, data []byte)) {
	for _, n := range sizes {
		r := long(n)
		data, err := Format(r)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) { bench(b, r, data) })
	}
}
