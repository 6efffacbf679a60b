//go:build race

package clean

// raceDetector is true where the race detector makes all code slower.
const raceDetector = true
