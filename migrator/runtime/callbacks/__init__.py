"""What hooks and exporters of Estimators did."""
