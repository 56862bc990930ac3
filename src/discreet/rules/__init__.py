"""What rules say of a record: literals, rules and their text, trees by numbers, and the candidates to choose from."""
