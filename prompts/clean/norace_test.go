//go:build !race

package clean

const raceDetector = false
