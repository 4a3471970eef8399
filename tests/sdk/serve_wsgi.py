"""serve_wsgi.py django|flask: serves views.py of the working directory at $PORT."""
import os
import sys
import wsgiref.simple_server

sys.path.insert(0, os.getcwd())


def application():
    if sys.argv[1] == "flask":
        import views
        return views.app
    from django.conf import settings
    from django.core.wsgi import get_wsgi_application
    from django.urls import path
    settings.configure(ALLOWED_HOSTS=["*"], ROOT_URLCONF="__main__",
                       MIDDLEWARE=["django.middleware.csrf.CsrfViewMiddleware"])
    import views
    globals()["urlpatterns"] = [path("betting", views.betting)]
    return get_wsgi_application()


wsgiref.simple_server.make_server("127.0.0.1", int(os.environ["PORT"]), application()).serve_forever()
