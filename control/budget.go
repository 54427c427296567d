package control

const (
	historySize = 16
	budgetSize  = 64
)
