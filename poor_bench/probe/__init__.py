"""Does the server of a model obey the settings it is sent, and how many requests at once pay?"""
