"""What is stored."""

from django.db import models


class Product(models.Model):
    """Something to be had, as long as there is some."""

    name = models.CharField(max_length=100, unique=True)
    stock = models.PositiveIntegerField()


class Order(models.Model):
    """Something that was bought."""

    product = models.ForeignKey(Product, on_delete=models.PROTECT)
    packed = models.BooleanField(default=False)
