package issue

import "testing"

func TestPriorityOf(t *testing.T) {
	for _, tt := range []struct {
		labels []string
		want   int
		odd    string
	}{
		{nil, 0, ""},
		{[]string{"bug", "priority", "p", "1", "high", "prize", "p10", "patch 1"}, 0, ""},
		{[]string{"P0"}, -1, ""},
		{[]string{"p1"}, 1, ""},
		{[]string{"p: 1"}, 1, ""},
		{[]string{"Priority: High"}, 2, ""},
		{[]string{"priority/3"}, 3, ""},
		{[]string{"priority-low", "bug", "P2"}, 2, ""},
		{[]string{"P5", "priority: critical"}, 1, ""},
		{[]string{"P2", "Priority: banana"}, 2, "Priority: banana"},
		{[]string{"priority/soon", "priority-queue"}, 0, "priority/soon"},
	} {
		if got, odd := PriorityOf(tt.labels); got != tt.want || odd != tt.odd {
			t.Errorf("%q gives %d, %q, want %d, %q", tt.labels, got, odd, tt.want, tt.odd)
		}
	}
}
