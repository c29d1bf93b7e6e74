"""RocketMQ over its remoting protocol.

`url.py` has the options of the URL, `remoting.py` the protocol, `cluster.py` asks for topics and makes them,
`library.py` sends with rocketmq-client-python, `native.py` over the protocol, and `sink.py` divides the work among
threads.
"""
