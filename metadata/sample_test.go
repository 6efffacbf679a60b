package metadata

import (
	"fmt"
	"os"
	"reflect"
	"testing"
	"time"
)

// noon is when the sample run happens.
var noon = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

func at(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }

func ptr[T any](v T) *T { return &v }

// sample is a valid run that was rolled back once, is revising again and has
// stopped at its budget. Every field of every type is filled somewhere in it.
func sample() Run {
	data, err := os.ReadFile("testdata/version-4.json")
	if err != nil {
		panic(err) // it lies beside this file
	}
	run, err := Parse(data, "version-4.json")
	if err != nil {
		panic(err) // TestEveryVersionParses tells more
	}
	return run
}

// long is a valid run that was rolled back n times.
func long(n int) Run {
	r := sample()
	entry := r.RollbackHistory[0]
	r.RollbackHistory = nil
	for i := range n {
		entry.Timestamp = at(i)
		entry.Reason = fmt.Sprintf("the API must stay REST, says customer %d", i)
		r.RollbackHistory = append(r.RollbackHistory, entry)
	}
	return r
}

func TestSampleFillsEveryField(t *testing.T) {
	filled, all := map[string]bool{}, map[string]bool{}
	var walk func(v reflect.Value)
	walk = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Pointer:
			if !v.IsNil() {
				walk(v.Elem())
			}
		case reflect.Slice:
			for i := range v.Len() {
				walk(v.Index(i))
			}
		case reflect.Struct:
			if v.Type() == reflect.TypeFor[time.Time]() {
				return
			}
			for i := range v.NumField() {
				name := v.Type().Name() + "." + v.Type().Field(i).Name
				all[name] = true
				filled[name] = filled[name] || !v.Field(i).IsZero()
				walk(v.Field(i))
			}
		}
	}
	walk(reflect.ValueOf(sample()))
	for name := range all {
		// A check that passed would have to be in a phase that passed, and
		// the sample's is in one that did not.
		if !filled[name] && name != "CheckResult.Pass" {
			t.Errorf("the sample leaves %s empty", name)
		}
	}
}

// formatted is a record as it is written.
func formatted(t testing.TB, r Run) []byte {
	t.Helper()
	data, err := Format(r)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
