package interval

// Method names the way an interval was computed; the names are part of the published report.
type Method string

// The methods of the published report.
const (
	MethodClopperPearson  Method = "clopper-pearson"
	MethodUniformMixture  Method = "uniform-mixture"
	MethodDirichlet       Method = "dirichlet"
	MethodSymPol          Method = "sympol"
	MethodHypergeometric  Method = "hypergeometric"
	MethodOrderStatistics Method = "order-statistics"
	MethodSignTest        Method = "sign-test"
)

// Looks says how often the data may be looked at while the interval's confidence holds.
type Looks string

// One look, any number of looks up to a planned number of units, or any number of looks.
const (
	LooksOne     Looks = "one"
	LooksPlanned Looks = "planned"
	LooksAny     Looks = "any"
)

// Interval is a two-sided interval: each side is wrong with probability at most (1 − Confidence)/2.
// Lower or Upper is −Inf or +Inf where the method does not bound that side.
// Bounds are rounded outward (see Outward…), so that every machine prints and compares the same numbers.
type Interval struct {
	Lower, Upper float64
	Confidence   float64 // announced, in [0.5, 1)
	Method       Method
	Looks        Looks
}

// Scale is the closed range that values are known to lie in before any is seen.
type Scale struct{ Lower, Upper float64 }

// The two scales in use: rates on [0, 1], differences on [-1, 1].
var (
	Unit       = Scale{0, 1}
	Difference = Scale{-1, 1}
)
