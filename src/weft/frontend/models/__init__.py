"""Classes of libraries as plain Python: what their objects hold and what their operators mean, loop by loop.

A model is read by the front end as a user's class would be: an argument of the library's class becomes an object of the
model, methods are compiled in place of their calls, and a model that is returned becomes the library's object again.
"""
