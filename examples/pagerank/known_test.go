package main

// What a program of another language, which shares nothing with this one, has found for testdata/small.txt.
const (
	smallScores           = "7 0.247447505\n30 0.247447505\n5 0.191774225\n9 0.165943460\n1000000007 0.086609035\n2 0.060778270\n"
	smallUndirectedScores = "7 0.220073905\n5 0.218256271\n30 0.208177046\n2 0.169220003\n1000000007 0.096918501\n9 0.087354273\n"
)
